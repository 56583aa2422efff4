package hints

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/regularfile"
	"sallyport/internal/term"
	"sallyport/internal/tomltext"
)

const (
	maxFiles      = 64
	maxFileBytes  = 512 << 10
	maxEntries    = 256 // of a person's own, over all files
	maxSignatures = 32  // an entry
	maxText       = 600 // characters of a field
	maxListItems  = 40
)

// A Spec is an entry as a catalogue file states it, with the samples that prove
// its signatures.
type Spec struct {
	Entry
	Positives []string // must select the entry
	Negatives []string // must not match it
}

// A File is the content of one catalogue file.
type File struct {
	Specs   []Spec
	Disable []string // ids of other entries that are not to speak
}

// A Problem is what is wrong with a catalogue file or one of its entries. What
// has a problem is left out of the catalogue, the rest of the file is used.
type Problem struct {
	Path string
	Line int // 1-based, 0 if unknown
	Err  error
}

func (p Problem) Error() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", p.Path, p.Line, p.Err)
	}
	return fmt.Sprintf("%s: %v", p.Path, p.Err)
}

func (p Problem) Unwrap() error { return p.Err }

// A Catalogue is the entries that apply for a person.
type Catalogue struct {
	Entries  []*Entry // in order
	Disabled []string // ids that a file switched off
	Problems []Problem

	specs []Spec // of the person's own files
}

// Load joins the built-in entries with those of the *.toml files in dir, and
// leaves out what they disable. A missing directory, or an empty dir, is normal.
// An entry with the id of a built-in one takes its place, but cannot take back
// what that one says must never be suggested.
func Load(dir string) *Catalogue {
	c := &Catalogue{Entries: Builtin()}
	if dir == "" {
		return c
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			c.Problems = append(c.Problems, Problem{Path: dir, Err: err})
		}
		return c
	}
	read := 0
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), ".toml") || strings.HasPrefix(name.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, name.Name())
		if read++; read > maxFiles {
			c.Problems = append(c.Problems, Problem{Path: dir, Err: fmt.Errorf("more than %d files, the rest is not read", maxFiles)})
			break
		}
		raw, err := regularfile.Read(path, maxFileBytes)
		if err != nil {
			c.Problems = append(c.Problems, Problem{Path: path, Err: err})
			continue
		}
		f, problems := Parse(path, raw)
		c.Problems = append(c.Problems, problems...)
		c.add(path, f)
	}
	c.disable()
	slices.SortStableFunc(c.Entries, func(a, b *Entry) int { return a.Order - b.Order })
	return c
}

func (c *Catalogue) add(path string, f *File) {
	for i := range f.Specs {
		spec := f.Specs[i]
		spec.File = path
		e := &spec.Entry
		if len(c.specs) == maxEntries {
			c.Problems = append(c.Problems, Problem{Path: path, Err: fmt.Errorf("more than %d entries, the rest is not used", maxEntries)})
			break
		}
		if old := Find(c.Entries, e.ID); old != nil {
			if old.File != "" {
				c.Problems = append(c.Problems, Problem{Path: path, Err: fmt.Errorf("entry %q: already defined in %s", e.ID, old.File)})
				continue
			}
			e.Never = union(old.Never, e.Never)
			c.Entries = slices.DeleteFunc(c.Entries, func(x *Entry) bool { return x == old })
		}
		c.Entries = append(c.Entries, e)
		c.specs = append(c.specs, spec)
	}
	for _, id := range f.Disable {
		if !slices.Contains(c.Disabled, id) {
			c.Disabled = append(c.Disabled, id)
		}
	}
}

func (c *Catalogue) disable() {
	for _, id := range c.Disabled {
		before := len(c.Entries)
		c.Entries = slices.DeleteFunc(c.Entries, func(e *Entry) bool { return e.ID == id })
		if len(c.Entries) == before {
			c.Problems = append(c.Problems, Problem{Path: "disable", Err: fmt.Errorf("no entry has the id %q", id)})
		}
	}
}

// CheckSamples runs the samples of the person's own entries: a positive must
// match its entry, a negative must not.
func (c *Catalogue) CheckSamples() []Problem {
	var problems []Problem
	for i := range c.specs {
		s := &c.specs[i]
		for _, err := range s.Check() {
			problems = append(problems, Problem{Path: s.File, Err: fmt.Errorf("entry %q: %w", s.ID, err)})
		}
	}
	return problems
}

// Check runs the samples of one entry.
func (s *Spec) Check() []error {
	var errs []error
	for _, sample := range s.Positives {
		if len(Scan(Text(sample), []*Entry{&s.Entry})) == 0 {
			errs = append(errs, fmt.Errorf("positive sample %q does not match", sample))
		}
	}
	for _, sample := range s.Negatives {
		if m := Scan(Text(sample), []*Entry{&s.Entry}); len(m) > 0 {
			errs = append(errs, fmt.Errorf("negative sample %q matches %s", sample, m[0].Expr))
		}
	}
	return errs
}

// The shape of a catalogue file.
type (
	tomlFile struct {
		Disable []string    `toml:"disable"`
		Hint    []tomlEntry `toml:"hint"`
	}
	tomlEntry struct {
		ID         string         `toml:"id"`
		Order      int            `toml:"order"`
		Title      string         `toml:"title"`
		Platform   []string       `toml:"platform"`
		Confidence string         `toml:"confidence"`
		Gate       string         `toml:"gate"`
		Severity   string         `toml:"severity"`
		Signatures []string       `toml:"signatures"`
		Positives  []string       `toml:"positives"`
		Negatives  []string       `toml:"negatives"`
		Protected  []string       `toml:"protected"`
		Lookalikes string         `toml:"lookalikes"`
		Cause      string         `toml:"cause"`
		Fix        tomlFix        `toml:"fix"`
		AlsoSet    map[string]any `toml:"also_set"`
		Never      []string       `toml:"never"`
		Probe      string         `toml:"probe"`
		Sources    []string       `toml:"sources"`
	}
	tomlFix struct {
		Scope    string         `toml:"scope"`
		Line     string         `toml:"line"`
		Settings map[string]any `toml:"settings"`
		Steps    []string       `toml:"steps"`
	}
)

// Parse reads a catalogue file. It returns what is usable of it and what is
// wrong with the rest; a file that is not TOML of the right shape has no usable
// part.
func Parse(path string, raw []byte) (*File, []Problem) {
	fail := func(line int, err error) (*File, []Problem) {
		return &File{}, []Problem{{path, line, err}}
	}
	var refused *tomltext.Error
	if errors.As(tomltext.Check(path, raw), &refused) {
		return fail(refused.Line, errors.New(refused.Message))
	}
	var t tomlFile
	d := toml.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		var unknown *toml.StrictMissingError
		if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
			row, _ := unknown.Errors[0].Position()
			return fail(row, fmt.Errorf("unknown field %q", strings.Join(unknown.Errors[0].Key(), ".")))
		}
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, _ := syntax.Position()
			return fail(row, errors.New(strings.TrimPrefix(syntax.Error(), "toml: ")))
		}
		return fail(0, err)
	}
	f := &File{}
	var problems []Problem
	if len(t.Hint) > maxEntries {
		problems = append(problems, Problem{path, 0, fmt.Errorf("more than %d entries, the rest is not used", maxEntries)})
		t.Hint = t.Hint[:maxEntries]
	}
	ids := map[string]bool{}
	for i := range t.Hint {
		spec, err := t.Hint[i].spec()
		if err == nil && ids[spec.ID] {
			err = errors.New("defined twice")
		}
		if err != nil {
			name := "entry " + strconv.Itoa(i+1)
			if t.Hint[i].ID != "" {
				name = fmt.Sprintf("entry %q", term.Clean(t.Hint[i].ID, 80))
			}
			problems = append(problems, Problem{path, 0, fmt.Errorf("%s: %w", name, err)})
			continue
		}
		ids[spec.ID] = true
		f.Specs = append(f.Specs, spec)
	}
	for _, id := range t.Disable[:min(len(t.Disable), maxEntries)] {
		f.Disable = append(f.Disable, term.Clean(id, 80))
	}
	return f, problems
}

func (t *tomlEntry) spec() (Spec, error) {
	e := Entry{
		ID:         t.ID,
		Order:      t.Order,
		Title:      cleanText(t.Title),
		Platforms:  t.Platform,
		Confidence: Confidence(t.Confidence),
		Gate:       Gate(t.Gate),
		Severity:   t.Severity,
		Protected:  t.Protected,
		Lookalikes: cleanText(t.Lookalikes),
		Cause:      cleanText(t.Cause),
		Fix: Fix{
			Scope: FixScope(t.Fix.Scope),
			Line:  strings.TrimSuffix(cleanText(t.Fix.Line), "."),
			Steps: cleanList(t.Fix.Steps),
		},
		Never:   cleanList(t.Never),
		Probe:   cleanText(t.Probe),
		Sources: cleanList(t.Sources),
	}
	switch {
	case !validID(e.ID):
		return Spec{}, errors.New("id must be lower-case words joined by hyphens, at most 64 characters")
	case e.Title == "":
		return Spec{}, errors.New("title is missing")
	case !oneOf(e.Confidence, High, Medium, Low):
		return Spec{}, fmt.Errorf("confidence %q: want high, medium or low", t.Confidence)
	case !oneOf(e.Gate, GateNone, GateOnOrUnknown, GateOn):
		return Spec{}, fmt.Errorf("gate %q: want none, sandbox-on-or-unknown or sandbox-on", t.Gate)
	case !oneOf(e.Fix.Scope, UserScope, ProjectScope, ProjectLocalScope, CommandScope, HostScope):
		return Spec{}, fmt.Errorf("fix.scope %q: want user, project, project-local, command or host", t.Fix.Scope)
	case !oneOf(e.Severity, "", SeverityInfo):
		return Spec{}, fmt.Errorf("severity %q: want info or nothing", t.Severity)
	case len(e.Platforms) == 0:
		return Spec{}, errors.New("platform is missing")
	case len(t.Signatures) == 0:
		return Spec{}, errors.New("signatures are missing")
	case len(t.Signatures) > maxSignatures:
		return Spec{}, fmt.Errorf("more than %d signatures", maxSignatures)
	case len(t.Protected) > maxSignatures:
		return Spec{}, fmt.Errorf("more than %d protected expressions", maxSignatures)
	}
	for _, p := range e.Platforms {
		if !oneOf(p, "linux", "darwin") {
			return Spec{}, fmt.Errorf("platform %q: want linux or darwin", p)
		}
	}
	for _, expr := range t.Signatures {
		sig, err := NewSignature(expr)
		if err != nil {
			return Spec{}, fmt.Errorf("signature %q: %w", term.Clean(expr, 80), err)
		}
		e.Signatures = append(e.Signatures, sig)
	}
	for _, expr := range t.Protected {
		if _, err := NewSignature(expr); err != nil {
			return Spec{}, fmt.Errorf("protected %q: %w", term.Clean(expr, 80), err)
		}
	}
	if t.Fix.Settings != nil {
		e.Fix.Settings = compactJSON(t.Fix.Settings)
	}
	if t.AlsoSet != nil {
		e.AlsoSet = compactJSON(t.AlsoSet)
	}
	if e.Fix.Line == "" {
		switch {
		case len(e.Fix.Steps) > 0:
			e.Fix.Line = strings.TrimSuffix(e.Fix.Steps[0], ".")
		case e.Fix.Settings != "":
			e.Fix.Line = "set " + e.Fix.Settings
		default:
			return Spec{}, errors.New("fix says nothing: give it line, steps or settings")
		}
	}
	return Spec{Entry: e, Positives: t.Positives, Negatives: t.Negatives}, nil
}

func oneOf[T comparable](v T, of ...T) bool { return slices.Contains(of, v) }

func validID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '-' || id[len(id)-1] == '-' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func cleanText(s string) string { return strings.TrimSpace(term.Clean(s, maxText)) }

func cleanList(list []string) []string {
	var clean []string
	for _, s := range list[:min(len(list), maxListItems)] {
		if s = cleanText(s); s != "" {
			clean = append(clean, s)
		}
	}
	return clean
}

// compactJSON writes a TOML value as JSON with sorted keys, text cleaned.
func compactJSON(v any) string {
	var b strings.Builder
	writeJSON(&b, v)
	return b.String()
}

func writeJSON(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSONString(b, k)
			b.WriteByte(':')
			writeJSON(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, x)
		}
		b.WriteByte(']')
	case string:
		writeJSONString(b, v)
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	default: // dates and the like, which no setting takes
		writeJSONString(b, fmt.Sprint(v))
	}
}

// writeJSONString quotes text that holds no control character once cleaned.
func writeJSONString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range cleanText(s) {
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
}
