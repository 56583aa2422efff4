package pins

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/tomltext"
)

// A Checkout is a repository that a person keeps beside the suite.
type Checkout struct {
	Name   string `json:"name"`
	Path   string `json:"path"`   // as written; "~/" is the home directory
	Remote string `json:"remote"` // expected URL, empty for any
	Branch string `json:"branch"`
}

// Checkouts reads the [checkouts] tables of a person's own manifests.
func Checkouts(layers []Layer) ([]Checkout, error) {
	byName := map[string]Checkout{}
	for _, l := range layers {
		var f manifestFile
		if err := tomltext.Decode(l.File, l.Data, &f, true); err != nil {
			return nil, err
		}
		for name, c := range f.Checkouts {
			switch {
			case l.Foreign:
				return nil, at(l, "", "", "checkouts.%s cannot come from a repository's file: git would be run there", name)
			case !plainName(name):
				return nil, at(l, "", "", "the name of a checkout is letters, digits, - and _")
			case c.Path == "" || c.Branch == "" || strings.HasPrefix(c.Branch, "-"):
				return nil, at(l, "", "", "checkouts.%s needs path and branch", name)
			}
			byName[name] = Checkout{name, c.Path, c.Remote, c.Branch}
		}
	}
	var all []Checkout
	for _, c := range byName {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Checkout) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// A CheckoutState is how far a checkout is behind.
type CheckoutState struct {
	Checkout
	Behind int      `json:"behind"`         // commits, -1 if not known
	Note   string   `json:"note,omitempty"` // why not, or what is unexpected
	New    []string `json:"new,omitempty"`  // subjects of the first few; text from outside
}

const fetchCheckout = 30 * time.Second

// Look fetches the branch of a checkout, unless offline, and counts. Nothing in
// the working tree changes.
func (c Checkout) Look(ctx context.Context, home string, offline bool, environ []string, getenv func(string) string) CheckoutState {
	s := CheckoutState{Checkout: c, Behind: -1}
	if rest, ok := strings.CutPrefix(c.Path, "~/"); ok {
		c.Path = filepath.Join(home, rest)
	}
	git, ok := childproc.LookPath("git", getenv)
	if !ok {
		s.Note = "git is not on PATH"
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, fetchCheckout)
	defer cancel()
	run := func(args ...string) (string, bool) {
		args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-C", c.Path}, args...)
		out, err := childproc.Program{Path: git, Args: args, Env: append(slices.Clone(environ), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")}.Output(ctx, 64<<10)
		return strings.TrimSpace(string(out)), err == nil
	}
	remote, ok := run("config", "--get", "remote.origin.url")
	switch {
	case !ok:
		s.Note = "not a repository with a remote named origin"
		return s
	case c.Remote != "" && remote != c.Remote:
		s.Note = "origin is " + remote + ", expected " + c.Remote
		return s
	}
	if !offline {
		if _, ok := run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin", "+refs/heads/"+c.Branch+":refs/remotes/origin/"+c.Branch); !ok {
			s.Note = "fetch failed; this is the state of the last one"
		}
	} else {
		s.Note = "offline; this is the state of the last fetch"
	}
	upstream := "HEAD..refs/remotes/origin/" + c.Branch
	count, ok := run("rev-list", "--count", upstream, "--")
	n, err := strconv.Atoi(count)
	if !ok || err != nil {
		s.Note = "there is no origin/" + c.Branch
		return s
	}
	s.Behind = n
	if subjects, ok := run("log", "--format=%s", "--max-count=5", upstream, "--"); ok && subjects != "" {
		s.New = strings.Split(subjects, "\n")
	}
	return s
}
