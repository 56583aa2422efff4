package lint

import (
	"slices"
	"strconv"
	"strings"

	"sallyport/settings"
)

// maxRounds bounds how often the result of mending is looked at again: one
// repair can make another rule redundant.
const maxRounds = 8

// Mend repairs what can be repaired mechanically and without loosening anything
// in the text of a settings file, and returns the new text. Every byte that is
// no part of a repair stays. The error is that of [settings.Apply].
func Mend(cfg Config, name string, data []byte) ([]byte, error) {
	for range maxRounds {
		changes := repairs(cfg, name, data)
		if len(changes) == 0 {
			break
		}
		next, err := settings.Apply(data, changes...)
		if err != nil {
			return nil, err
		}
		data = next
	}
	return data, nil
}

// repairs are the changes for one look at a text. Deletions of elements stand
// last, from the back, so that the places of the others stay right.
func repairs(cfg Config, name string, data []byte) (changes []settings.Change) {
	r := newRun(cfg, "claude")
	f := &file{name: name, data: data, scope: r.guessScope(name)}
	root, ok := r.json(f, false)
	if !ok {
		return nil
	}
	c := r.subject(root, f, cfg.Dir)
	set := func(value any, path ...string) { changes = append(changes, settings.Set(value, path...)) }
	sandbox, hasSandbox := c.sandbox()
	isList := func(v *value) bool { return v == nil || v.is(settings.Array) }

	r.report.Findings, r.all = nil, true
	apply(r, sandboxRules, c, nil)
	apply(r, permissionRules, c, nil)
	var drop []*value
	at := func(fd Finding) (*value, []string) {
		steps := settings.Pointer(fd.Pointer)
		v := root
		for _, s := range steps {
			if v.is(settings.Array) {
				i, err := strconv.Atoi(s)
				if err != nil || i >= len(v.children()) {
					return nil, steps
				}
				v = v.children()[i]
			} else {
				v = v.get(s)
			}
		}
		return v, steps
	}
	for _, fd := range r.report.Findings {
		v, steps := at(fd)
		switch fd.ID {
		case "SL102":
			set(true, steps...)
		case "SL104":
			if isList(v) {
				changes = append(changes, settings.Append("~/", steps...))
			}
		case "SL109":
			if isList(v) {
				changes = append(changes, settings.Append(fd.value, steps...))
			}
		case "SL112", "SL113", "SL120", "SL118":
			set(false, steps...)
		case "SL114":
			set("default", steps...)
		case "SL119":
			set(true, steps...)
		case "SL121":
			if credentials := sandbox.get("credentials"); hasSandbox && (credentials == nil || credentials.is(settings.Object)) && isList(v) {
				changes = append(changes, c.denyVariables()...)
			}
		case "R301", "R305":
			p := c.permissionAt(v)
			if p == nil || p.list == "allow" {
				continue
			}
			if tool := consultedTool(p); fd.ID == "R301" && tool != "" {
				set(tool+"("+p.spec+")", steps...)
			} else if fd.ID == "R305" {
				set(p.tool+"(/"+p.spec+")", steps...)
			}
		case "R304":
			if v.is(settings.String) {
				drop = append(drop, v)
			}
		}
	}
	// One round either writes or drops: dropping moves what stands behind.
	if len(changes) > 0 {
		return changes
	}
	slices.SortFunc(drop, func(a, b *value) int { return b.offset - a.offset })
	for _, v := range drop {
		changes = append(changes, settings.Delete(v.steps()...))
	}
	return changes
}

func (c *claude) permissionAt(v *value) *permission {
	for i := range c.rules {
		if c.rules[i].value == v {
			return &c.rules[i]
		}
	}
	return nil
}

// denyVariables makes each of the secret variables unreadable: by a new entry,
// or by the mode of the one that is there.
func (c *claude) denyVariables() (changes []settings.Change) {
	path := []string{"sandbox", "credentials", "envVars"}
	for _, name := range c.openVariables() {
		existing := -1
		for i, e := range c.root.get(path...).children() {
			if n := e.get("name"); n.is(settings.String) && n.text == name {
				existing = i
			}
		}
		if existing >= 0 {
			changes = append(changes, settings.Set("deny", append(path[:len(path):len(path)], strconv.Itoa(existing), "mode")...))
			continue
		}
		changes = append(changes, settings.Append(struct {
			Name string `json:"name"`
			Mode string `json:"mode"`
		}{name, "deny"}, path...))
	}
	return changes
}

// Fixable reports whether a report holds anything that [Mend] repairs.
func (r *Report) Fixable() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		rule, ok := Lookup(f.ID)
		return ok && rule.Mends && !f.Baseline && !strings.HasPrefix(f.Pointer, "/permissions/allow") || f.ID == "R304"
	})
}
