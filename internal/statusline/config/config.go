// Package config reads and edits status-line.toml, the file in which a person
// says how the line should look.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/dirs"
	"sallyport/internal/regularfile"
	"sallyport/internal/statusline"
	"sallyport/internal/tomltext"
)

// A Config is the content of the file.
type Config struct {
	Layout  statusline.Layout
	Theme   string
	Symbols string
	// Color is "auto", "16", "256", "true" or "never".
	Color        string
	Budget       time.Duration // how long the line waits for git
	CommandTTL   time.Duration
	CommandLimit time.Duration
}

// Default is the configuration of a person who has none.
func Default() Config {
	return Config{
		Layout: statusline.DefaultLayout(), Theme: "default", Symbols: "ascii", Color: "auto", Budget: 150 * time.Millisecond,
		CommandTTL: 10 * time.Second, CommandLimit: 2 * time.Second,
	}
}

// Path is where the file is; empty if no home directory is known.
func Path(getenv func(string) string) string {
	dir := dirs.Config(getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "status-line.toml")
}

// An Error is one thing wrong with the file.
type Error struct {
	Path string
	Line int // 1-based, 0 if unknown
	Msg  string
	// Unknown marks a key that means nothing and is passed over; anything else
	// makes the whole file count as missing.
	Unknown bool
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Msg)
}

const maxFile = 64 << 10

// Load reads the file. A missing one is the default; a broken one is the
// default too, and the errors say what is wrong. Unknown keys are reported and
// harmless.
func Load(path string) (Config, []*Error) {
	data, err := regularfile.Read(path, maxFile)
	if errors.Is(err, os.ErrNotExist) || path == "" {
		return Default(), nil
	}
	if err != nil {
		return Default(), []*Error{{Path: path, Msg: err.Error()}}
	}
	return Parse(path, data)
}

// A file is the TOML document.
type file struct {
	Segments  []string          `toml:"segments"`
	Lines     [][]string        `toml:"lines"`
	Separator *string           `toml:"separator"`
	Theme     *string           `toml:"theme"`
	Symbols   *string           `toml:"symbols"`
	Color     *string           `toml:"color"`
	Width     *int              `toml:"width"`
	Links     *bool             `toml:"links"`
	Budget    *string           `toml:"budget"`
	Colors    map[string]string `toml:"colors"`
	Exec      struct {
		Refresh *string `toml:"refresh"`
		Limit   *string `toml:"limit"`
	} `toml:"exec"`
}

// Parse reads the text of the file; path is for messages.
func Parse(path string, data []byte) (Config, []*Error) {
	var f file
	var refused *tomltext.Error
	if errors.As(tomltext.Check(path, data), &refused) {
		return Default(), []*Error{{Path: path, Line: refused.Line, Msg: refused.Message}}
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		e := &Error{Path: path, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			e.Line, _ = decode.Position()
		}
		return Default(), []*Error{e}
	}
	c := Default()
	settings, err := scan(data)
	if err != nil {
		return Default(), []*Error{{Path: path, Msg: err.Error()}}
	}
	line := func(key string) int {
		for _, s := range settings {
			if s.key == key {
				return s.line
			}
		}
		return 0
	}
	var broken, unknown []*Error
	bad := func(key, format string, args ...any) {
		broken = append(broken, &Error{Path: path, Line: line(key), Msg: key + ": " + fmt.Sprintf(format, args...)})
	}
	for _, s := range settings {
		if _, ok := keyNamed(s.key); !ok && s.key != "colors" && s.key != "exec" {
			unknown = append(unknown, &Error{Path: path, Line: s.line, Msg: s.key + ": no such key", Unknown: true})
		}
	}
	entries := func(key string, names []string) []statusline.Entry {
		var list []statusline.Entry
		for _, name := range names {
			e, ok := statusline.ParseEntry(name)
			if !ok {
				bad(key, "%q is no segment; there are %s", name, strings.Join(SegmentNames(), ", "))
				continue
			}
			list = append(list, e)
		}
		return list
	}
	if f.Segments != nil && f.Lines != nil {
		bad("lines", "give either segments or lines, not both")
	}
	if f.Segments != nil {
		c.Layout.Lines = [][]statusline.Entry{entries("segments", f.Segments)}
	}
	if f.Lines != nil {
		c.Layout.Lines = nil
		for _, names := range f.Lines {
			c.Layout.Lines = append(c.Layout.Lines, entries("lines", names))
		}
	}
	if len(c.Layout.Lines) > MaxLines {
		bad("lines", "at most %d lines", MaxLines)
	}
	if f.Separator != nil {
		c.Layout.Separator = *f.Separator
	}
	if f.Theme != nil {
		theme, ok := statusline.ThemeNamed(*f.Theme)
		if !ok {
			bad("theme", "%q is no theme; there are %s", *f.Theme, strings.Join(statusline.ThemeNames(), ", "))
		}
		c.Theme, c.Layout.Theme = *f.Theme, theme
	}
	if f.Symbols != nil {
		symbols, ok := statusline.SymbolsNamed(*f.Symbols)
		if !ok {
			bad("symbols", "%q is no set of symbols; there are %s", *f.Symbols, strings.Join(statusline.SymbolNames(), ", "))
		}
		c.Symbols, c.Layout.Symbols = *f.Symbols, symbols
	}
	if f.Color != nil {
		if !slices.Contains(colorNames, *f.Color) {
			bad("color", "%q; want one of %s", *f.Color, strings.Join(colorNames, ", "))
		}
		c.Color = *f.Color
	}
	if f.Width != nil {
		if *f.Width < 0 || *f.Width > 10000 {
			bad("width", "want 0 (as wide as the terminal) to 10000")
		}
		c.Layout.Width = *f.Width
	}
	if f.Links != nil {
		c.Layout.Links = *f.Links
	}
	duration := func(key string, text *string, max time.Duration, into *time.Duration) {
		if text == nil {
			return
		}
		d, err := time.ParseDuration(*text)
		if err != nil || d <= 0 || d > max {
			bad(key, "%q; want a duration such as \"150ms\" or \"10s\", at most %s", *text, max)
			return
		}
		*into = d
	}
	duration("budget", f.Budget, 10*time.Second, &c.Budget)
	duration("exec.refresh", f.Exec.Refresh, 24*time.Hour, &c.CommandTTL)
	duration("exec.limit", f.Exec.Limit, time.Minute, &c.CommandLimit)
	for name, text := range f.Colors {
		role, ok := statusline.RoleNamed(name)
		if !ok {
			continue // reported as an unknown key
		}
		style, err := statusline.ParseStyle(text)
		if err != nil {
			bad("colors."+name, "%v", err)
		}
		c.Layout.Theme[role] = style
	}
	errs := append(broken, unknown...)
	slices.SortStableFunc(errs, func(a, b *Error) int { return a.Line - b.Line })
	if len(broken) > 0 {
		return Default(), errs
	}
	return c, errs
}

// MaxLines is how many lines a layout may have.
const MaxLines = 8

// ColorNames are the values of "color".
func ColorNames() []string { return slices.Clone(colorNames) }

var colorNames = []string{"auto", "16", "256", "true", "never"}

// SegmentNames are the names of all segments as the file writes them.
func SegmentNames() []string {
	var names []string
	for _, seg := range statusline.Segments() {
		name := seg.Name
		if seg.Arg != "" {
			name += ":<" + seg.Arg + ">"
		}
		names = append(names, name)
	}
	return names
}

// Depth is how many colours the configuration allows on this terminal, if it
// may be coloured at all.
func (c Config) Depth(getenv func(string) string) statusline.Depth {
	switch c.Color {
	case "never":
		return statusline.NoColors
	case "16":
		return statusline.Colors16
	case "256":
		return statusline.Colors256
	case "true":
		return statusline.TrueColor
	}
	switch getenv("COLORTERM") {
	case "truecolor", "24bit":
		return statusline.TrueColor
	}
	switch term := getenv("TERM"); {
	case term == "linux", term == "ansi", strings.HasSuffix(term, "-16color"):
		return statusline.Colors16
	}
	return statusline.Colors256
}

// Segments are those that the layout shows, and the commands of its exec
// segments.
func (c Config) Segments() (wants func(string) bool, commands []string) {
	shown := make(map[string]bool)
	for _, entries := range c.Layout.Lines {
		for _, e := range entries {
			shown[e.Segment] = true
			if e.Segment == "exec" && !slices.Contains(commands, e.Arg) {
				commands = append(commands, e.Arg)
			}
		}
	}
	return func(name string) bool { return shown[name] }, commands
}
