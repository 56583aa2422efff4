// Package tomltext decodes TOML that anybody may have written.
//
// The parser under it recurses into nested values, and a stack that overflows
// ends a Go program whatever it does; so size and nesting are bounded first.
// Errors name file, line and column.
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
	if line := tooDeep(data); line > 0 {
		return &Error{File: file, Line: line, Message: fmt.Sprintf("nested more than %d deep", maxDepth)}
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

// tooDeep is the line on which brackets, or the dots of one key, nest deeper
// than any file of ours does; 0 for none. Brackets in strings count too.
func tooDeep(data []byte) (line int) {
	line = 1
	depth, dots := 0, 0
	for _, c := range data {
		switch c {
		case '\n':
			line++
			dots = 0
		case '[', '{':
			if depth++; depth > maxDepth {
				return line
			}
		case ']', '}':
			depth = max(depth-1, 0)
		case '.':
			if dots++; dots > 4096 {
				return line
			}
		}
	}
	return 0
}
