package gitcmd

import (
	"strings"
	"sync"
)

type arity int

const (
	none     arity = iota
	required       // the value may be the next word
	optional       // the value must be attached
)

// A def is one option of git's.
type def struct {
	letter byte
	long   string
	arity  arity
	newer  bool
	noNeg  bool // git refuses its negation
}

// name is the canonical name: "no-verify" where git's table says so.
func (d *def) name() string {
	if d.long != "" {
		return d.long
	}
	return string(d.letter)
}

type table struct{ defs []def }

// read holds the tables that were needed, by name: a long line may call one
// subcommand ten thousand times. Tables do not change.
var read sync.Map

// tableOf returns the options of a subcommand, nil if none are recorded.
func tableOf(name, sub string) *table {
	key := name
	if sub != "" {
		if _, ok := lookup(name + " " + sub); ok {
			key = name + " " + sub
		}
	}
	switch key {
	case "stage":
		key = "add"
	case "init-db":
		key = "init"
	}
	if t, ok := read.Load(key); ok {
		return t.(*table)
	}
	specs, ok := lookup(key)
	if !ok {
		return nil
	}
	t := &table{}
	for i, spec := range specs {
		for token := range strings.FieldsSeq(spec) {
			d := def{newer: i == 1}
			token, d.noNeg = strings.CutSuffix(token, "!")
			switch token[len(token)-1] {
			case '=':
				d.arity, token = required, token[:len(token)-1]
			case '?':
				d.arity, token = optional, token[:len(token)-1]
			}
			switch {
			case len(token) == 1:
				d.letter = token[0]
			case len(token) > 2 && token[1] == ',':
				d.letter, d.long = token[0], token[2:]
			default:
				d.long = token
			}
			t.defs = append(t.defs, d)
		}
	}
	read.Store(key, t)
	return t
}

func lookup(key string) ([2]string, bool) {
	if s, ok := find(options, key); ok {
		late, _ := find(newer, key)
		return [2]string{s, late}, true
	}
	s, ok := find(scripted, key)
	return [2]string{s, ""}, ok
}

func find(list []entry, key string) (string, bool) {
	for i := range list {
		if list[i].name == key {
			return list[i].options, true
		}
	}
	return "", false
}

func (t *table) short(letter byte) *def {
	for i := range t.defs {
		if t.defs[i].letter == letter {
			return &t.defs[i]
		}
	}
	return nil
}

// find looks a long name up: exactly, then as an abbreviation. Options newer
// than the table's git count only if the older ones give no answer, because
// they can make ambiguous what an older git accepts.
func (t *table) find(name string) (d *def, unset, ok bool) {
	if d, unset, ok = t.search(name, false); ok {
		return d, unset, ok
	}
	return t.search(name, true)
}

// search follows parse_long_opt of git's parse-options.c.
func (t *table) search(name string, withNewer bool) (*def, bool, bool) {
	if name == "" {
		return nil, false, false
	}
	positive, negated := strings.CutPrefix(name, "no-")
	var abbreviated *def
	var abbreviatedUnset, ambiguous bool
	remember := func(d *def, unset bool) {
		if abbreviated != nil && (abbreviated != d || abbreviatedUnset != unset) {
			ambiguous = true
		}
		abbreviated, abbreviatedUnset = d, unset
	}
	for i := range t.defs {
		d := &t.defs[i]
		if d.long == "" || d.newer && !withNewer {
			continue
		}
		switch {
		case d.long == name:
			return d, false, true
		case negated && d.long == positive && !d.noNeg:
			return d, true, true
		}
		if base, isNo := strings.CutPrefix(d.long, "no-"); isNo && !d.noNeg {
			if base == name {
				return d, true, true
			}
			if strings.HasPrefix(base, name) {
				remember(d, true)
			}
		}
		switch {
		case strings.HasPrefix(d.long, name):
			remember(d, false)
		case d.noNeg:
		case strings.HasPrefix("no-", name):
			remember(d, true)
		case negated && strings.HasPrefix(d.long, positive):
			remember(d, true)
		}
	}
	if abbreviated == nil || ambiguous {
		return nil, false, false
	}
	return abbreviated, abbreviatedUnset, true
}

// builtins are git's own commands: an alias cannot replace them.
const builtins = ` add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects gc get-tar-commit-id grep gui hash-object help hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id pickaxe prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack reflog remote remote-ext remote-fd repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree `

func isBuiltin(name string) bool {
	return name != "" && !strings.Contains(name, " ") && strings.Contains(builtins, " "+name+" ")
}
