package pins

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bump rewrites a pin in a manifest's text: its version, its date of release,
// and the manifest's own date. Every other byte stays. It refuses a release
// that is younger than the cooldown.
func Bump(l Layer, name, version string, released, today time.Time) ([]byte, error) {
	if !valid(version) {
		return nil, fmt.Errorf("%q is not a version", version)
	}
	tools, err := Merge([]Layer{l})
	if err != nil {
		return nil, err
	}
	var tool *Tool
	for i := range tools {
		if tools[i].Name == name {
			tool = &tools[i]
		}
	}
	switch {
	case tool == nil:
		return nil, at(l, "", "", "there is no [tools.%s]", name)
	case tool.Version == "":
		return nil, at(l, name, "min_version", "%s has a floor, which moves when the suite needs more, not with releases", name)
	case released.AddDate(0, 0, tool.Cooldown).After(today):
		return nil, fmt.Errorf("%s %s was released %s: its cooldown of %d days ends %s", name, version, released.Format(time.DateOnly),
			tool.Cooldown, released.AddDate(0, 0, tool.Cooldown).Format(time.DateOnly))
	}
	text := string(l.Data)
	for _, e := range []struct{ tool, key, value string }{
		{name, "version", version},
		{name, "released", released.Format(time.DateOnly)},
		{"", "pinned_at", today.Format(time.DateOnly)},
	} {
		if text, err = replaceValue(text, e.tool, e.key, e.value); err != nil {
			return nil, at(l, e.tool, e.key, "%v", err)
		}
	}
	// Commands name the version too.
	text = replaceInstall(text, name, tool.Version, version)
	next := Layer{File: l.File, Data: []byte(text)}
	if _, err := Merge([]Layer{next}); err != nil {
		return nil, err
	}
	return next.Data, nil
}

// replaceValue changes a string value and keeps the rest of its line.
func replaceValue(text, tool, key, value string) (string, error) {
	n := lineOf(text, tool, key)
	lines := strings.SplitAfter(text, "\n")
	if n > len(lines) {
		return "", fmt.Errorf("%s is not there", key)
	}
	line := lines[n-1]
	name, rest, ok := strings.Cut(line, "=")
	if !ok || strings.TrimSpace(name) != key {
		return "", fmt.Errorf("%s is not on a line of its own", key)
	}
	start := len(name) + 1 + len(rest) - len(strings.TrimLeft(rest, " \t"))
	if start >= len(line) || line[start] != '"' && line[start] != '\'' {
		return "", fmt.Errorf("%s is not a string", key)
	}
	end := strings.IndexByte(line[start+1:], line[start])
	if end < 0 {
		return "", fmt.Errorf("%s is not a string on one line", key)
	}
	lines[n-1] = line[:start] + strconv.Quote(value) + line[start+1+end+1:]
	return strings.Join(lines, ""), nil
}

func replaceInstall(text, tool, old, new string) string {
	lines := strings.SplitAfter(text, "\n")
	inside := false
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			inside = strings.HasPrefix(trimmed, "[tools."+tool+"]") || strings.HasPrefix(trimmed, "[tools."+tool+".install]")
		}
		if inside && strings.HasPrefix(trimmed, "install.") {
			lines[i] = strings.ReplaceAll(line, old, new)
		}
	}
	return strings.Join(lines, "")
}
