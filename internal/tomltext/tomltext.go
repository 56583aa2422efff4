// Package tomltext decodes TOML that anybody may have written.
//
// The parser under it recurses into nested values, and a stack that overflows
// ends a Go program whatever it does; it also compares each key with all before
// it. So size, nesting and the number of keys are bounded first. Errors name file,
// line and column.
package tomltext

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/regularfile"
	"sallyport/internal/term"
)

// Limits of a text.
const (
	MaxSize  = 1 << 20
	maxDepth = 64
	maxKeys  = 5000
)

// An Error is a text that cannot be used.
type Error struct {
	File         string
	Line, Column int // 1-based; 0 if not known
	Message      string
}

func (e *Error) Error() string {
	at := term.Clean(e.File, 0)
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			at += fmt.Sprintf(":%d", e.Column)
		}
	}
	return at + ": " + term.Clean(e.Message, 300)
}

// Read reads a regular file of at most [MaxSize]. A file that is not there is
// an error that is [fs.ErrNotExist].
func Read(file string) ([]byte, error) {
	data, err := regularfile.Read(file, MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = &Error{File: file, Message: err.Error()}
	}
	return data, err
}

// Decode decodes a text into v. A key that v does not have is an error if
// strict is set. The error is an *[Error].
func Decode(file string, data []byte, v any, strict bool) error {
	if len(data) > MaxSize {
		return &Error{File: file, Message: fmt.Sprintf("has more than %d KiB", MaxSize>>10)}
	}
	if err := Check(file, data); err != nil {
		return err
	}
	d := toml.NewDecoder(bytes.NewReader(data))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(v)
	var unknown *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := &unknown.Errors[0]
		line, column := first.Position()
		key := ""
		for i, k := range first.Key() {
			if i > 0 {
				key += "."
			}
			key += k
		}
		return &Error{file, line, column, "unknown key " + key}
	case errors.As(err, &syntax):
		line, column := syntax.Position()
		return &Error{file, line, column, syntax.Error()}
	}
	return &Error{File: file, Message: err.Error()}
}

// Check refuses a text that a parser should not be given. The error is an
// *[Error].
func Check(file string, data []byte) error {
	if at := Deeper(data, maxDepth); at >= 0 {
		return &Error{File: file, Line: 1 + bytes.Count(data[:at], []byte("\n")), Message: fmt.Sprintf("nested more than %d deep", maxDepth)}
	}
	if Keys(data) > maxKeys {
		return &Error{File: file, Message: fmt.Sprintf("has more than %d keys and tables", maxKeys)}
	}
	return nil
}

// Deeper is the offset at which brackets, or the dots of one key, nest deeper
// than depth, -1 if they do not.
func Deeper(data []byte, depth int) int {
	open, dots := 0, 0
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '#', '"', '\'':
			i = skip(data, i)
			continue
		case '[', '{':
			dots = 0
			if open++; open > depth {
				return i
			}
		case ']', '}':
			open = max(0, open-1)
			dots = 0
		case '.':
			if dots++; dots > depth {
				return i
			}
		case '=', ',', '\n':
			dots = 0
		}
		i++
	}
	return -1
}

// Keys counts the keys and tables of a text.
func Keys(data []byte) (n int) {
	lineStart := true
	for i := 0; i < len(data); {
		c := data[i]
		switch c {
		case '#', '"', '\'':
			i = skip(data, i)
			lineStart = false
			continue
		case '[':
			if lineStart {
				n++
			}
		case '=':
			n++
		}
		lineStart = c == '\n' || lineStart && (c == ' ' || c == '\t')
		i++
	}
	return n
}

// skip is the offset behind the comment or string that begins at i.
func skip(data []byte, i int) int {
	if data[i] != '#' {
		return StringEnd(data, i)
	}
	if eol := bytes.IndexByte(data[i:], '\n'); eol >= 0 {
		return i + eol
	}
	return len(data)
}

// StringEnd is the offset behind the string whose first quote stands at i. A
// string of one line ends with the line at the latest.
func StringEnd(data []byte, i int) int {
	quote := data[i]
	long := bytes.Repeat(data[i:i+1], 3)
	if bytes.HasPrefix(data[i:], long) {
		for i += 3; i < len(data); i++ {
			switch {
			case quote == '"' && data[i] == '\\':
				i++
			case bytes.HasPrefix(data[i:], long):
				i += 3
				for n := 0; n < 2 && i < len(data) && data[i] == quote; n++ {
					i++
				}
				return i
			}
		}
		return len(data)
	}
	for i++; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			return i
		case c == '\\' && quote == '"':
			i++
		case c == quote:
			return i + 1
		}
	}
	return len(data)
}
