package policy

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sallyport/settings"
)

// strictJSON blanks comments and trailing commas, so that every other byte keeps
// its place and messages keep their line.
func strictJSON(data []byte) []byte {
	out := bytes.Clone(data)
	comma := -1 // a comma behind which only blanks and comments came
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"' && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			i++
		case bytes.HasPrefix(out[i:], []byte("//")):
			for i < len(out) && out[i] != '\n' {
				out[i] = ' '
				i++
			}
		case bytes.HasPrefix(out[i:], []byte("/*")):
			end := bytes.Index(out[i+2:], []byte("*/"))
			if end < 0 {
				return out // the parser names the place
			}
			for end += i + 4; i < end; i++ {
				if out[i] != '\n' && out[i] != '\r' {
					out[i] = ' '
				}
			}
		case c == ',':
			comma = i
			i++
		case c == '}' || c == ']':
			if comma >= 0 && !opens(out, comma) {
				out[comma] = ' '
			}
			comma = -1
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			comma = -1
			i++
		}
	}
	return out
}

// opens reports a comma with nothing before it: "[,]" stays an error.
func opens(data []byte, comma int) bool {
	before := bytes.TrimRight(data[:comma], " \t\r\n")
	return len(before) == 0 || bytes.ContainsRune([]byte("[{,:"), rune(before[len(before)-1]))
}

// parseSource reads a JSON file that a person edits.
func parseSource(path string, data []byte) (*settings.Document, error) {
	doc, err := settings.ParseDocument(strictJSON(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; mend the JSON", path, err)
	}
	if line, column, twice := doc.Repeated(); twice {
		return nil, fmt.Errorf("%s: line %d, column %d: this key stands twice in one object; keep one", path, line, column)
	}
	if doc.Root().Kind() != settings.Object {
		return nil, fmt.Errorf("%s: line 1: the file holds %s, want an object", path, doc.Root().Kind())
	}
	return doc, nil
}

// A member is one name and value of an object that keeps its order.
type member struct {
	name  string
	value any
}

// An object is a JSON object with its members in order.
type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(compactJSON(m.name))
		b.WriteByte(':')
		b.Write(compactJSON(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o object) get(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

// compactJSON writes a value on one line, without HTML escapes. Our values
// always marshal: strings, numbers, booleans, and containers of them.
func compactJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// indentJSON is a value as it stands in a new file.
func indentJSON(v any) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, compactJSON(v), "", "  "); err != nil {
		panic(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// decodeJSON reads a value with its numbers as they are written.
func decodeJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
