package setup

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tidwall/gjson"

	"sallyport/internal/term"
)

func itoa(n int) string { return strconv.Itoa(n) }

// unified is a diff with three lines of context, safe to print.
func unified(file string, before, after []byte) string {
	// The library's first line repeats the names that the next two give.
	text := diff.Diff(file, before, file+" (new)", after)
	_, text, _ = bytes.Cut(text, []byte("\n"))
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		for i, part := range strings.Split(strings.TrimSuffix(line, "\r"), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(term.Clean(part, 0))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Diff compares two states of a settings file for a person: unified, safe to
// print, secrets hidden.
func Diff(file string, before, after []byte, color bool) string {
	return paint(unified(term.Clean(file, 0), maskJSON(before), maskJSON(after)), color)
}

const mask = "***"

// secretName reports a name whose value is not shown.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"token", "secret", "password", "key"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// maskJSON hides the values of secrets in a valid JSON document and keeps
// everything else, line breaks included.
func maskJSON(doc []byte) []byte {
	root := gjson.ParseBytes(doc)
	var spans []span
	var walk func(v gjson.Result, depth int, hidden bool)
	walk = func(v gjson.Result, depth int, hidden bool) {
		// Each level reads its text again, so very deep values are hidden whole.
		if (v.IsObject() || v.IsArray()) && depth < 100 {
			v.ForEach(func(k, child gjson.Result) bool {
				walk(child, depth+1, hidden || k.Type == gjson.String && (k.String() == "env" || secretName(k.String())))
				return true
			})
			return
		}
		if (hidden || depth == 100) && v.Index > 0 {
			spans = append(spans, span{v.Index, v.Index + len(v.Raw)})
		}
	}
	walk(root, 0, false)
	var out []byte
	last := 0
	for _, s := range spans {
		if s.start < last || s.end > len(doc) {
			continue
		}
		out = append(out, doc[last:s.start]...)
		out = append(out, `"`+mask+`"`...)
		last = s.end
	}
	return append(out, doc[last:]...)
}

// maskShell hides what a start file assigns to names that sound like secrets.
func maskShell(text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		for j, w := range words {
			name, value, ok := strings.Cut(w, "=")
			if ok && value != "" && isAssignment(name+"=") && secretName(name) {
				at := strings.Index(line, name+"=") + len(name) + 1
				lines[i] = line[:at] + mask + strings.Repeat("\n", strings.Count(line, "\n"))
				break
			}
			// fish: set -gx NAME value
			if j > 0 && words[0] == "set" && !strings.HasPrefix(w, "-") {
				if secretName(w) && j+1 < len(words) {
					at := strings.Index(line, w) + len(w) + 1
					lines[i] = line[:at] + mask + strings.Repeat("\n", strings.Count(line, "\n"))
				}
				break
			}
		}
	}
	return []byte(strings.Join(lines, ""))
}
