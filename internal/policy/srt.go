package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sallyport/settings"
)

// An SRT is what a sandbox-runtime settings file says. The schema is that of
// Anthropic's Sandbox Runtime 0.0.78.
type SRT struct {
	Path string

	DenyRead, DenyWrite, AllowRead, AllowWrite []pathEntry
	Allowed, Denied                            []domainEntry
	Sockets                                    []entry
	Enabled                                    *bool

	// values are the members that are there, by dotted name, as compact JSON.
	values map[string]json.RawMessage
}

// has reports that the file has the member, in other words says something.
func (s *SRT) has(name string) bool { _, ok := s.values[name]; return ok }

// on reports a boolean member that is true.
func (s *SRT) on(name string) bool { return string(s.values[name]) == "true" }

// srtShape is the type a member must have.
type srtShape int

const (
	shapePaths srtShape = iota
	shapeDomains
	shapeStrings
	shapeBool
	shapePort
	shapeObject
	shapeViolations
	shapeAny // not compiled: its type does not matter
)

var srtMembers = map[string]srtShape{
	"filesystem.denyRead":             shapePaths,
	"filesystem.denyWrite":            shapePaths,
	"filesystem.allowWrite":           shapePaths,
	"filesystem.allowRead":            shapePaths,
	"filesystem.disabled":             shapeBool,
	"filesystem.allowGitConfig":       shapeAny,
	"network.allowedDomains":          shapeDomains,
	"network.deniedDomains":           shapeDomains,
	"network.strictAllowlist":         shapeBool,
	"network.allowLocalBinding":       shapeBool,
	"network.allowAllUnixSockets":     shapeBool,
	"network.allowUnixSockets":        shapeStrings,
	"network.allowMachLookup":         shapeStrings,
	"network.httpProxyPort":           shapePort,
	"network.socksProxyPort":          shapePort,
	"network.deniedDomainReasons":     shapeAny,
	"network.deniedResolvedAddresses": shapeAny,
	"network.mitmProxy":               shapeAny,
	"network.parentProxy":             shapeAny,
	"network.tlsTerminate":            shapeAny,
	"credentials":                     shapeObject,
	"ignoreViolations":                shapeViolations,
	"enableWeakerNestedSandbox":       shapeBool,
	"enableWeakerNetworkIsolation":    shapeBool,
	"enabled":                         shapeBool,
	"allowAppleEvents":                shapeAny,
	"allowPty":                        shapeAny,
	"mandatoryDenySearchDepth":        shapeAny,
	"windows":                         shapeAny,
	"git":                             shapeAny,
	"ripgrep":                         shapeAny,
	"seccomp":                         shapeAny,
	"bwrapPath":                       shapeAny,
	"socatPath":                       shapeAny,
	"javaAgentJarPath":                shapeAny,
}

var srtRequired = []string{"filesystem.denyRead", "filesystem.denyWrite", "filesystem.allowWrite", "network.allowedDomains", "network.deniedDomains"}

// parseSRT reads the settings of the sandbox runtime. Everything wrong with them
// is in n; the result is nil if there was something.
func parseSRT(file string, data []byte, n *notes) *SRT {
	before := len(n.problems)
	doc, err := parseSource(file, data)
	if err != nil {
		n.fail(errSource, err)
		return nil
	}
	s := &SRT{Path: file, values: map[string]json.RawMessage{}}
	r := srtReader{file, s, n}
	doc.Root().Each(func(name string, value settings.Node) bool {
		if name == "filesystem" || name == "network" {
			if value.Kind() != settings.Object {
				r.wrong(value, "/"+name, "an object")
				return true
			}
			value.Each(func(inner string, v settings.Node) bool {
				r.member(name+"."+inner, v)
				return true
			})
			return true
		}
		r.member(name, value)
		return true
	})
	for _, name := range srtRequired {
		if !s.has(name) {
			n.add(Warning{ID: "SRT-MISSING-REQUIRED", Level: Warn, Source: "srt", Pointer: pointerOf(name),
				Message: fmt.Sprintf("%s has no %s, without which srt refuses it; taken as an empty list", file, name)})
		}
	}
	if s.on("filesystem.disabled") {
		n.problem("ABORT-FS-DISABLED", "%s: filesystem.disabled is true, so there is no file policy to compile; remove it or set it to false", file)
	}
	if raw, ok := s.values["enabled"]; ok {
		on := string(raw) == "true"
		s.Enabled = &on
	}
	for _, e := range s.Sockets {
		base := path.Base(e.Text)
		if slices.Contains([]string{"docker.sock", "podman.sock", "containerd.sock"}, base) || strings.HasSuffix(base, "-api.sock") {
			n.add(Warning{ID: "SOCKET-RAW-DAEMON", Level: Warn, Source: "srt", Pointer: e.Pointer,
				Message: fmt.Sprintf("%q is the socket of a daemon that runs as someone else: who reaches it is outside the sandbox", e.Text)})
		}
	}
	if len(n.problems) > before {
		return nil
	}
	return s
}

func pointerOf(dotted string) string { return "/" + strings.ReplaceAll(dotted, ".", "/") }

// pointerStep escapes a name for a JSON pointer.
func pointerStep(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

type srtReader struct {
	file string
	s    *SRT
	n    *notes
}

func (r srtReader) wrong(v settings.Node, pointer, want string) {
	line, column := v.Position()
	r.n.problem(errSource, "%s:%d:%d: %s is %s, want %s", r.file, line, column, pointer, v.Kind(), want)
}

func (r srtReader) member(name string, v settings.Node) {
	pointer := "/" + pointerStep(name)
	if section, inner, ok := strings.Cut(name, "."); ok && (section == "filesystem" || section == "network") {
		pointer = "/" + section + "/" + pointerStep(inner)
	}
	shape, known := srtMembers[name]
	if !known {
		r.n.add(Warning{ID: "SRT-UNKNOWN-KEY", Level: Info, Source: "srt", Pointer: pointer, Message: fmt.Sprintf("%s is not known and ignored", name)})
		return
	}
	keep := func() {
		var b bytes.Buffer
		if err := json.Compact(&b, v.Raw()); err == nil {
			r.s.values[name] = b.Bytes()
		}
	}
	switch shape {
	case shapeAny:
		r.n.add(Warning{ID: "SRT-NOT-COMPILED", Level: Info, Source: "srt", Pointer: pointer, Message: fmt.Sprintf("%s is for srt alone and not compiled", name)})
	case shapeBool:
		if _, ok := v.Bool(); !ok {
			r.wrong(v, pointer, "true or false")
			return
		}
		keep()
	case shapePort:
		port, ok := v.Int()
		switch {
		case !ok || port < 0 || port > 65535:
			line, column := v.Position()
			r.n.problem(errSource, "%s:%d:%d: %s is no port; want a number from 1 to 65535", r.file, line, column, pointer)
		case port == 0:
			r.n.add(Warning{ID: "SRT-PORT-ZERO", Level: Info, Source: "srt", Pointer: pointer, Message: fmt.Sprintf("%s is 0 and taken as not set", name)})
		default:
			keep()
		}
	case shapeObject:
		if v.Kind() != settings.Object {
			r.wrong(v, pointer, "an object")
			return
		}
		keep()
	case shapeViolations:
		if v.Kind() != settings.Object {
			r.wrong(v, pointer, "an object of string lists")
			return
		}
		v.Each(func(inner string, list settings.Node) bool {
			r.strings(list, pointer+"/"+pointerStep(inner))
			return true
		})
		keep()
	default:
		entries, ok := r.strings(v, pointer)
		if !ok {
			return
		}
		keep()
		switch name {
		case "filesystem.denyRead":
			r.s.DenyRead = r.paths(entries, true)
		case "filesystem.denyWrite":
			r.s.DenyWrite = r.paths(entries, true)
		case "filesystem.allowRead":
			r.s.AllowRead = r.paths(entries, false)
		case "filesystem.allowWrite":
			r.s.AllowWrite = r.paths(entries, false)
		case "network.allowedDomains":
			r.s.Allowed = r.domains(entries, false)
		case "network.deniedDomains":
			r.s.Denied = r.domains(entries, true)
		case "network.allowUnixSockets":
			r.s.Sockets = entries
		}
	}
}

func (r srtReader) strings(v settings.Node, pointer string) (out []entry, ok bool) {
	if v.Kind() != settings.Array {
		r.wrong(v, pointer, "a list of strings")
		return nil, false
	}
	ok = true
	i := 0
	v.Each(func(_ string, item settings.Node) bool {
		at := fmt.Sprintf("%s/%d", pointer, i)
		i++
		text, isText := item.Text()
		if !isText {
			r.wrong(item, at, "a string")
			ok = false
			return true
		}
		line, _ := item.Position()
		out = append(out, entry{text, "srt", at, line})
		return true
	})
	return out, ok
}

func (r srtReader) paths(entries []entry, deny bool) (out []pathEntry) {
	for _, e := range entries {
		if why, fix := malformed(e, deny); why != "" {
			hint := ""
			if fix != "" {
				hint = "; did you mean " + fix + "?"
			}
			r.n.problem("ABORT-MALFORMED-PATH", "%s:%d: %s: %q %s%s", r.file, e.Line, e.Pointer, e.Text, why, hint)
			continue
		}
		if strings.HasPrefix(e.Text, "//") {
			r.n.add(Warning{ID: "PATH-DOUBLE-SLASH", Level: Info, Source: "srt", Pointer: e.Pointer,
				Message: fmt.Sprintf("%q is taken as %q: two slashes are the spelling of Claude's permission rules", e.Text, collapse(e.Text))})
		}
		out = append(out, canonical(e))
	}
	return out
}

func (r srtReader) domains(entries []entry, deny bool) (out []domainEntry) {
	for _, e := range entries {
		d, why := parseDomain(e, deny)
		if why != "" {
			r.n.problem(errSource, "%s:%d: %s: %q is no domain entry: %s; srt would refuse the whole file", r.file, e.Line, e.Pointer, e.Text, why)
			continue
		}
		out = append(out, d)
	}
	return out
}
