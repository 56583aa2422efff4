package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"sallyport/internal/term"
)

// maxShown bounds what is printed of one text.
const maxShown = 2000

// Human writes the findings for people, one a line, and how many there are.
func (r *Report) Human(w io.Writer, quiet bool) {
	for i := range r.Findings {
		f := &r.Findings[i]
		path := ""
		if f.Path != "" {
			path = " " + clean(f.Path)
		}
		origin := ""
		if f.Origin != nil {
			origin = " [" + f.Origin.Scope.String() + "]"
		}
		fmt.Fprintf(w, "sandbox-lint: %s: %s %s%s: %s (line %d, column %d)%s\n", clean(f.File), f.Severity, f.ID, path, clean(f.Message), f.Line, f.Column, origin)
		if f.Help != "" {
			fmt.Fprintf(w, "    fix: %s\n", clean(f.Help))
		}
	}
	if !quiet && len(r.Findings) > 0 {
		fmt.Fprintf(w, "sandbox-lint: %s, %s, %s; sandbox-lint explain ID says more\n",
			count(r.Count(Error), "error"), count(r.Count(Warning), "warning"), count(r.Count(Info), "remark"))
	}
}

// OK writes the line of a run without errors and warnings, if it was one.
func (r *Report) OK(w io.Writer) {
	if !r.unusable && r.Count(Error)+r.Count(Warning) == 0 {
		fmt.Fprintf(w, "sandbox-lint: OK (%s)\n", clean(strings.Join(r.Files, ", ")))
	}
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func clean(s string) string { return term.Clean(s, maxShown) }

// JSON writes the report as one object.
func (r *Report) JSON(w io.Writer, strict bool) error {
	type jsonRelated struct {
		File    string `json:"file"`
		Pointer string `json:"pointer"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
	}
	type jsonOrigin struct {
		Scope   string `json:"scope"`
		File    string `json:"file"`
		Pointer string `json:"pointer"`
	}
	type jsonFinding struct {
		ID       string        `json:"id"`
		Severity string        `json:"severity"`
		File     string        `json:"file"`
		Line     int           `json:"line"`
		Column   int           `json:"column"`
		Pointer  string        `json:"pointer"`
		Path     string        `json:"path"`
		Message  string        `json:"message"`
		Help     string        `json:"help"`
		Related  []jsonRelated `json:"related"`
		Baseline bool          `json:"baseline"`
		Origin   *jsonOrigin   `json:"origin,omitempty"`
		More     int           `json:"more,omitempty"`
	}
	out := struct {
		Schema string   `json:"schema"`
		Mode   string   `json:"mode"`
		Exit   int      `json:"exit"`
		Files  []string `json:"files"`
		Counts struct {
			Error   int `json:"error"`
			Warning int `json:"warning"`
			Info    int `json:"info"`
		} `json:"counts"`
		Findings   []jsonFinding   `json:"findings"`
		Effective  json.RawMessage `json:"effective,omitempty"`
		Considered []string        `json:"considered,omitempty"`
	}{Schema: "sandbox-lint/1", Mode: r.Mode, Exit: r.Exit(strict), Files: r.Files, Findings: []jsonFinding{}}
	if out.Files == nil {
		out.Files = []string{}
	}
	out.Counts.Error, out.Counts.Warning, out.Counts.Info = r.Count(Error), r.Count(Warning), r.Count(Info)
	for i := range r.Findings {
		f := &r.Findings[i]
		jf := jsonFinding{ID: f.ID, Severity: f.Severity.String(), File: f.File, Line: f.Line, Column: f.Column, Pointer: f.Pointer,
			Path: f.Path, Message: f.Message, Help: f.Help, Related: []jsonRelated{}, Baseline: f.Baseline, More: f.More}
		for _, rel := range f.Related {
			jf.Related = append(jf.Related, jsonRelated{rel.File, rel.Pointer, rel.Line, rel.Column})
		}
		switch {
		case f.Origin != nil:
			jf.Origin = &jsonOrigin{f.Origin.Scope.String(), f.Origin.File, f.Origin.Pointer}
		case r.Mode == "merged":
			jf.Origin = &jsonOrigin{File: f.File, Pointer: f.Pointer}
		}
		out.Findings = append(out.Findings, jf)
	}
	if r.Effective != nil {
		out.Effective, out.Considered = r.Effective, r.Considered
	}
	return encode(w, out)
}

func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

type object = map[string]any

// SARIF writes the report as SARIF 2.1.0.
func (r *Report) SARIF(w io.Writer) error {
	level := func(s Severity) string { return [...]string{"error", "warning", "note"}[s] }
	rules := []object{}
	index := make(map[string]int)
	for i, rule := range Rules() {
		index[rule.ID] = i
		rules = append(rules, object{
			"id":                   rule.ID,
			"shortDescription":     object{"text": rule.Summary},
			"fullDescription":      object{"text": rule.Summary + ": " + rule.Why},
			"help":                 object{"text": rule.Fix},
			"defaultConfiguration": object{"level": level(rule.Severity)},
		})
	}
	results := []object{}
	for i := range r.Findings {
		f := &r.Findings[i]
		location := func(file string, line, column int, pointer string) object {
			l := object{"physicalLocation": object{
				"artifactLocation": object{"uri": uri(file)},
				"region":           object{"startLine": max(line, 1), "startColumn": max(column, 1)},
			}}
			if pointer != "" {
				l["logicalLocations"] = []object{{"fullyQualifiedName": pointer}}
			}
			return l
		}
		result := object{
			"ruleId":              f.ID,
			"ruleIndex":           index[f.ID],
			"level":               level(f.Severity),
			"message":             object{"text": f.Message},
			"locations":           []object{location(f.File, f.Line, f.Column, f.Pointer)},
			"partialFingerprints": object{"sandboxLint/v1": f.fingerprint()},
		}
		var rel []object
		for _, other := range f.Related {
			rel = append(rel, location(other.File, other.Line, other.Column, other.Pointer))
		}
		if rel != nil {
			result["relatedLocations"] = rel
		}
		if f.More > 0 {
			result["occurrenceCount"] = 1 + f.More
		}
		if f.Origin != nil {
			result["properties"] = object{"origin": f.Origin.Scope.String()}
		}
		results = append(results, result)
	}
	return encode(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []object{{
			"tool":             object{"driver": object{"name": "sandbox-lint", "language": "en-US", "rules": rules}},
			"columnKind":       "unicodeCodePoints",
			"language":         "en-US",
			"newlineSequences": []string{"\r\n", "\n"},
			"results":          results,
		}},
	})
}

// fingerprint names a finding across edits that only move it.
func (f *Finding) fingerprint() string {
	sum := sha256.Sum256([]byte(f.ID + "\x00" + f.Pointer + "\x00" + f.value))
	return hex.EncodeToString(sum[:])
}

// uri is a file name as a URI reference.
func uri(file string) string {
	file = filepath.ToSlash(file)
	prefix := ""
	switch {
	case strings.HasPrefix(file, "/"):
		prefix = "file://"
	case len(file) > 1 && file[1] == ':':
		prefix = "file:///"
	}
	var b strings.Builder
	b.WriteString(prefix)
	for i := range len(file) {
		c := file[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', strings.IndexByte("-._~/@!$&'()*+,;=", c) >= 0,
			c == ':' && prefix == "file:///" && i == 1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// GitHub writes the findings as workflow commands, which annotate a change.
func (r *Report) GitHub(w io.Writer) {
	kinds := [...]string{"error", "warning", "notice"}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range r.Findings {
		f := &r.Findings[i]
		message := f.Message
		if f.Path != "" {
			message = f.Path + ": " + message
		}
		if f.Help != "" {
			message += "\nfix: " + f.Help
		}
		fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", kinds[f.Severity], property.Replace(f.File), f.Line, f.Column, f.ID, data.Replace(message))
	}
}
