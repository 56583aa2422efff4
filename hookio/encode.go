package hookio

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"sallyport/internal/rawjson"
)

// maxText bounds each text that a client is given, in UTF-16 code units. Claude
// Code replaces a longer one than 10,000 by a preview and a path; the others
// are not known to need less.
const maxText = 9_900

// clip cuts s to maxText on a rune boundary.
func clip(s string) string {
	units := 0
	for i, r := range s {
		if r > 0xffff {
			units++
		}
		if units++; units > maxText {
			return strings.TrimRight(s[:i], "\n") + "…"
		}
	}
	return s
}

// reason is why a call is refused or asked about; it is never blank.
func (d *Decision) reason() string {
	if trim(d.Reason) == "" {
		return "A hook refused this call and gave no reason."
	}
	return d.Reason
}

// trim drops what JavaScript's trim drops: white space and byte order marks.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// reasonAndContext is for an answer that has room for one text only.
func (d *Decision) reasonAndContext() string {
	if d.Context == "" {
		return d.reason()
	}
	return d.reason() + "\n" + d.Context
}

// updatedInput is the replacement for the tool's input, or nil if it is none
// that a client could read.
func (d *Decision) updatedInput() []byte {
	in := bytes.TrimSpace(d.UpdatedInput)
	if len(in) == 0 || in[0] != '{' || !utf8.Valid(in) || rawjson.Check(in) != rawjson.Strict {
		return nil
	}
	return in
}

// refuses reports a verdict that keeps the call from running where nobody can
// be asked.
func (d *Decision) refuses() bool { return d.Verdict == Ask || d.Verdict == Deny }

// block is the answer by exit code: the text on stderr, nothing on stdout.
func block(text string) Reply {
	text = strings.ToValidUTF8(clip(text), "\uFFFD")
	return Reply{Stderr: []byte(text + "\n"), Exit: ExitBlock}
}

// An object is a JSON object being written. Members that are empty are left
// out.
type object []byte

func (o *object) key(name string) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(rawjson.AppendString(*o, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.key(name)
		*o = rawjson.AppendString(*o, clip(value))
	}
}

func (o *object) raw(name string, value []byte) {
	if len(value) > 0 {
		o.key(name)
		*o = append(*o, value...)
	}
}

func (o *object) object(name string, value object) {
	o.raw(name, value.bytes())
}

// bytes is the finished object, nil if it has no members.
func (o object) bytes() []byte {
	if len(o) == 0 {
		return nil
	}
	return append(o[:len(o):len(o)], '}')
}

// reply is the object as a hook's output with that exit code.
func (o object) reply(exit int) Reply {
	if len(o) == 0 {
		return Reply{Exit: exit}
	}
	return Reply{Stdout: append(o.bytes(), '\n'), Exit: exit}
}
