package lint

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"sallyport/settings"
)

// maxInput bounds every file. The client takes no settings longer than this on
// its command line; no list that people keep comes near.
const maxInput = 2 << 20

// maxValues bounds what rules are asked about: each of them looks at each value.
const maxValues = 25_000

var parseRules = []check[*file]{
	{Rule: Rule{ID: "P001", Severity: Error,
		Summary: "a file that was named or is required is missing or cannot be read (exit 2)",
		Why:     "what cannot be read cannot be vouched for",
		Example: "sandbox-lint --settings no-such-file.json",
		Fix:     "name a regular file of at most 2 MiB and 25,000 values that this user may read"}},
	{Rule: Rule{ID: "P002", Severity: Error,
		Summary: "a file is not valid JSON or TOML (exit 2); OpenCode's alone may hold comments and trailing commas",
		Why:     "the client drops a settings file with a syntax error whole, and runs without everything in it",
		Example: `{"sandbox": {"enabled": true,}}`,
		Fix:     "mend the syntax at the place named"}},
	{Rule: Rule{ID: "P003", Severity: Error, Hard: true,
		Summary: "an object has two members of one name",
		Why:     "parsers disagree on which one counts: a reviewer sees the first, the agent may use the last",
		Example: `{"sandbox": {"enabled": true}, "sandbox": {"enabled": false}}`,
		Fix:     "keep one of them"}},
	{Rule: Rule{ID: "P004", Severity: Error,
		Summary: "the top level is not an object (exit 2)",
		Why:     "there are no settings in it",
		Example: `[1]`,
		Fix:     "write an object"}},
	{Rule: Rule{ID: "P005", Severity: Error,
		Summary: "a key that is checked has a value of the wrong type; it then counts as absent",
		Why:     "the client drops the value, or the whole file with it",
		Example: `{"sandbox": {"filesystem": {"denyRead": "~/"}}}`,
		Fix:     "write a value of the type named"}},
}

// load reads a file; what goes wrong is a P001.
func (r *run) load(name string) (*file, bool) {
	r.rank(name)
	data, err := readFile(r.resolve(name))
	if err != nil {
		r.in("P001", name, "cannot be read: "+reason(err), "")
		return nil, false
	}
	return &file{name: name, data: data}, true
}

func (r *run) resolve(name string) string {
	if !filepath.IsAbs(name) {
		return filepath.Join(r.cfg.Dir, name)
	}
	return name
}

func readFile(path string) ([]byte, error) {
	// Opening a pipe could wait for ever.
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("larger than %d MiB", maxInput>>20)
	}
	return data, err
}

func reason(err error) string {
	var pe *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "no such file"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}

// json parses a file; ok is false after a P002 or P004.
func (r *run) json(f *file, comments bool) (root *value, ok bool) {
	doc, ok := r.document(f, comments)
	if !ok {
		return nil, false
	}
	return r.root(f, doc)
}

func (r *run) document(f *file, comments bool) (*settings.Document, bool) {
	if !utf8.Valid(f.data) {
		at := 0
		for {
			c, size := utf8.DecodeRune(f.data[at:])
			if c == utf8.RuneError && size <= 1 {
				break
			}
			at += size
		}
		line, column := f.position(at)
		r.in("P002", f.name, "not valid UTF-8, which JSON has to be", "", place(line, column))
		return nil, false
	}
	if countValues(f.data) > maxValues {
		r.in("P001", f.name, fmt.Sprintf("holds more than %d values", maxValues), "")
		return nil, false
	}
	parse := settings.ParseDocument
	if comments {
		parse = settings.ParseJSONC
	}
	doc, err := parse(f.data)
	if err != nil {
		opt, message := place(1, 1), err.Error()
		var syntax *settings.SyntaxError
		if errors.As(err, &syntax) {
			opt, message = place(syntax.Line, syntax.Column), syntax.Message
		}
		r.in("P002", f.name, "not valid JSON: "+message, "", opt)
		return nil, false
	}
	return doc, true
}

// countValues counts the members and elements of a JSON text.
func countValues(data []byte) (n int) {
	quoted := false
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ',', '[', '{':
			if !quoted {
				n++
			}
		}
	}
	return n
}

func place(line, column int) option {
	return func(f *Finding) { f.Line, f.Column = line, column }
}

func (r *run) root(f *file, doc *settings.Document) (*value, bool) {
	if _, _, repeated := doc.Repeated(); repeated {
		r.repeated(f, doc.Root(), nil)
	}
	root := jsonValue(f, doc.Root())
	if root.kind != settings.Object {
		line, column := root.position()
		r.in("P004", f.name, "the top level must be an object, not "+root.kind.String(), "", place(line, column))
		return nil, false
	}
	return root, true
}

// repeated reports every member whose object has one of that name already.
func (r *run) repeated(f *file, n settings.Node, steps []string) {
	visit := func(name string, child settings.Node, again bool) bool {
		path := append(steps[:len(steps):len(steps)], name)
		if again {
			line, column := f.position(child.Offset())
			r.in("P003", f.name, fmt.Sprintf("the name %s stands twice in one object; readers and agents may take different ones", quote(name)), "",
				place(line, column), func(fd *Finding) {
					fd.Pointer, fd.Path, fd.value = pointerOf(path), joinPath("", path), string(child.Raw())
					if f.scoped {
						fd.Origin = &Origin{f.scope, f.name, fd.Pointer}
					}
				})
		}
		if child.Kind() == settings.Object || child.Kind() == settings.Array {
			r.repeated(f, child, path)
		}
		return true
	}
	if n.Kind() == settings.Object {
		n.EachRepeated(visit)
		return
	}
	i := 0
	n.Each(func(_ string, child settings.Node) bool {
		ok := visit(fmt.Sprint(i), child, false)
		i++
		return ok
	})
}

// A shape says which type a key must have: the kind, and for "[]" lists that
// of their elements.
type shape struct {
	path string // dotted
	want string // object, boolean, string, list, strings, objects
}

// shapes reports keys of the wrong type.
func (r *run) shapes(root *value, shapes []shape, adjust func(*Finding)) {
	rule := r.rules["P005"]
	report := reporter{r, rule, adjust}
	for _, s := range shapes {
		v := root.get(strings.Split(s.path, ".")...)
		if v == nil {
			continue
		}
		report.shape(v, s.want)
	}
}

func (r reporter) shape(v *value, want string) {
	wrong := func(v *value, want string) {
		r.at(v, fmt.Sprintf("must be %s, not %s; it counts as absent", want, v.kind))
	}
	switch want {
	case "object":
		if v.kind != settings.Object {
			wrong(v, "an object")
		}
	case "boolean":
		if v.kind != settings.Bool {
			wrong(v, "true or false")
		}
	case "string":
		if v.kind != settings.String {
			wrong(v, "a string")
		}
	case "list", "strings", "objects":
		if v.kind != settings.Array {
			wrong(v, "a list")
			return
		}
		for _, kid := range v.children() {
			switch {
			case want == "strings" && kid.kind != settings.String:
				wrong(kid, "a string")
			case want == "objects" && kid.kind != settings.Object:
				wrong(kid, "an object")
			}
		}
	}
}

func statFile(path string) (os.FileInfo, error) {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	return fi, err
}
