package term

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// A Color says when to colour: the value of every --color flag.
type Color string

// ColorAlways is the default of hooks and the status line: their output is a
// pipe and yet drawn in colour by the client.
const (
	ColorAlways Color = "always"
	ColorAuto   Color = "auto"
	ColorNever  Color = "never"
)

// Set implements flag.Value.
func (c *Color) Set(s string) error {
	switch v := Color(s); v {
	case ColorAlways, ColorAuto, ColorNever:
		*c = v
		return nil
	}
	return fmt.Errorf("want always, auto or never")
}

func (c *Color) String() string {
	if c == nil {
		return ""
	}
	return string(*c)
}

// Enabled decides whether w gets colour. NO_COLOR, set and not empty, wins.
func (c Color) Enabled(w io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	switch c {
	case ColorNever:
		return false
	case ColorAuto:
		return IsTerminal(w)
	}
	return true
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Style wraps s in the SGR parameters, such as "1;31", if on is true.
func Style(on bool, sgr, s string) string {
	if !on || sgr == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}
