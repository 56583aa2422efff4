package lint

import (
	"fmt"
	"strings"

	"sallyport/settings"
)

// A Policy holds a project's additions to what is checked. It can only add.
type Policy struct {
	RequireDeny       []string
	ForbidAllowRead   []string
	ForbidAllowWrite  []string
	DangerousCommands []Probe
	GatewayDirs       []string
}

// ReadPolicy reads a policy file. It is an input: errors name file and place.
func ReadPolicy(path string) (Policy, error) {
	var p Policy
	data, err := readFile(path)
	if err != nil {
		return p, fmt.Errorf("policy %s: %s", path, reason(err))
	}
	doc, err := settings.ParseDocument(data)
	if err != nil {
		return p, fmt.Errorf("policy %s: %w", path, err)
	}
	f := &file{name: path, data: data}
	root := jsonValue(f, doc.Root())
	fail := func(v *value, want string) error {
		line, column := v.position()
		return fmt.Errorf("policy %s:%d:%d: %s: want %s", path, line, column, v.path(), want)
	}
	if root.kind != settings.Object {
		return p, fmt.Errorf("policy %s: want an object", path)
	}
	lists := map[string]*[]string{"require_deny": &p.RequireDeny, "forbid_allow_read": &p.ForbidAllowRead,
		"forbid_allow_write": &p.ForbidAllowWrite, "socket_gateway_dirs": &p.GatewayDirs}
	for _, v := range root.children() {
		list, known := lists[v.name]
		switch {
		case v.name == "dangerous_commands":
			for _, pair := range v.children() {
				words := pair.strings()
				if v.kind != settings.Array || len(words) != 2 || len(pair.children()) != 2 || strings.TrimSpace(words[0].text) == "" {
					return p, fail(v, `a list of pairs ["command", "label"]`)
				}
				p.DangerousCommands = append(p.DangerousCommands, Probe{words[0].text, words[1].text})
			}
			if v.kind != settings.Array {
				return p, fail(v, `a list of pairs ["command", "label"]`)
			}
		case known:
			if v.kind != settings.Array || len(v.strings()) != len(v.children()) {
				return p, fail(v, "a list of strings")
			}
			for _, e := range v.strings() {
				*list = append(*list, e.text)
			}
		case v.name == "$schema" || strings.HasPrefix(v.name, "_") || strings.HasPrefix(v.name, "//"):
		default:
			return p, fail(v, "one of require_deny, forbid_allow_read, forbid_allow_write, dangerous_commands, socket_gateway_dirs")
		}
	}
	return p, nil
}
