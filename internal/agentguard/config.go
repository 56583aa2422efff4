// Package agentguard is the program agent-guard without its flags: it loads the
// configuration, turns a hook's event or a command line into a question to
// package guards, and its answer into what a harness, a person or a log reads.
package agentguard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sallyport/guards"
	"sallyport/internal/dirs"
	"sallyport/internal/regularfile"
	"sallyport/internal/tomltext"
)

// maxConfig bounds a configuration file.
const maxConfig = 256 << 10

// OnError says what a hook answers when the guards themselves fail.
type OnError int

// Answers to a failure.
const (
	ErrorAllow OnError = iota
	ErrorAsk
	ErrorDeny
)

// A Config is the configuration in force, from the person's file and then the
// repository's.
type Config struct {
	Levels     guards.Levels
	Options    map[string]string // "guard.option"
	Inline     guards.InlineOverride
	OnError    OnError
	Unattended bool // "ci": ask becomes deny where CI says so
	Log        LogConfig

	// Sources names the file of each key: "guards.mention", "inline_override".
	Sources map[string]string
	// Problems are files or keys that do not count, with the reason.
	Problems []Problem
}

// A Problem is a part of the configuration that does not count.
type Problem struct {
	File string
	Text string
}

func (p Problem) Error() string { return p.File + ": " + p.Text }

// A file is guard.toml as it is written. Tables other than these are options
// of the guard of that name.
type file struct {
	OnError        string            `toml:"on_error"`
	InlineOverride string            `toml:"inline_override"`
	Unattended     string            `toml:"unattended"`
	Guards         map[string]string `toml:"guards"`
	Log            logTable          `toml:"log"`
}

type logTable struct {
	Enabled  bool   `toml:"enabled"`
	Path     string `toml:"path"`
	MaxBytes int64  `toml:"max_bytes"`
	Keep     int    `toml:"keep"`
	Passes   bool   `toml:"passes"`
}

// UserFile is the person's configuration file, empty without a home.
func UserFile(getenv func(string) string) string {
	dir := dirs.Config(getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "guard.toml")
}

// RepositoryFile is the configuration file of a work tree.
func RepositoryFile(root string) string {
	if root == "" {
		return ""
	}
	return filepath.Join(root, ".sallyport", "guard.toml")
}

// LoadConfig reads the person's file and then the repository's, which can only
// tighten unless trusted says that its content is. A missing file is normal; a
// broken one counts as missing and is listed in Problems.
func LoadConfig(getenv func(string) string, root string, all []*guards.Guard, trusted func(path string, data []byte) bool) *Config {
	c := &Config{
		Levels:  guards.Levels{User: map[string]guards.Level{}, Repository: map[string]guards.Level{}},
		Options: map[string]string{},
		Sources: map[string]string{},
	}
	if path := UserFile(getenv); path != "" {
		if data, ok := c.read(path); ok {
			c.apply(path, data, all, true, getenv)
		}
	}
	if path := RepositoryFile(root); path != "" {
		if data, ok := c.read(path); ok {
			c.apply(path, data, all, trusted != nil && trusted(path, data), getenv)
		}
	}
	if c.Unattended {
		c.Unattended = guards.Truthy(getenv("CI"))
	}
	return c
}

func (c *Config) problem(path, format string, args ...any) {
	c.Problems = append(c.Problems, Problem{path, fmt.Sprintf(format, args...)})
}

func (c *Config) read(path string) ([]byte, bool) {
	data, err := regularfile.Read(path, maxConfig)
	if err != nil {
		if !os.IsNotExist(err) {
			c.problem(path, "cannot be read: %v", err)
		}
		return nil, false
	}
	return data, true
}

func (c *Config) apply(path string, data []byte, all []*guards.Guard, trusted bool, getenv func(string) string) {
	var bad *tomltext.Error
	if errors.As(tomltext.Check(path, data), &bad) {
		c.problem(path, "%s", bad.Message)
		return
	}
	var f file
	var tables map[string]any
	if err := toml.Unmarshal(data, &tables); err != nil {
		c.problem(path, "%v", describe(err))
		return
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		c.problem(path, "%v", describe(err))
		return
	}
	user := path == UserFile(getenv)
	known := map[string]*guards.Guard{}
	for _, g := range all {
		known[g.Name] = g
	}
	for name, text := range f.Guards {
		level, ok := guards.ParseLevel(text)
		if !ok {
			c.problem(path, "guards.%s is %q, want deny, ask, warn or off", name, text)
			continue
		}
		if known[name] == nil {
			c.problem(path, "guards.%s: there is no such guard", name)
		}
		switch {
		case user || trusted:
			c.Levels.User[name] = level
			if !user {
				delete(c.Levels.Repository, name)
			}
		case level == guards.LevelOff:
			c.problem(path, "guards.%s = \"off\" does not count: the repository is not trusted", name)
			continue
		default:
			c.Levels.Repository[name] = level
		}
		c.Sources["guards."+name] = path
	}
	if f.InlineOverride != "" {
		v, ok := map[string]guards.InlineOverride{"allow": guards.InlineAllow, "ask": guards.InlineAsk, "ignore": guards.InlineIgnore}[f.InlineOverride]
		switch {
		case !ok:
			c.problem(path, "inline_override is %q, want allow, ask or ignore", f.InlineOverride)
		case trusted || v > c.Inline:
			c.Inline = v
			c.Sources["inline_override"] = path
		}
	}
	if f.OnError != "" {
		v, ok := map[string]OnError{"allow": ErrorAllow, "ask": ErrorAsk, "deny": ErrorDeny}[f.OnError]
		switch {
		case !ok:
			c.problem(path, "on_error is %q, want allow, ask or deny", f.OnError)
		case trusted || v > c.OnError:
			c.OnError = v
			c.Sources["on_error"] = path
		}
	}
	switch f.Unattended {
	case "":
	case "ci":
		c.Unattended = true
		c.Sources["unattended"] = path
	case "never":
		if trusted {
			c.Unattended = false
			c.Sources["unattended"] = path
		}
	default:
		c.problem(path, "unattended is %q, want ci or never", f.Unattended)
	}
	if _, ok := tables["log"]; ok && trusted {
		c.Log = newLogConfig(f.Log, getenv)
		c.Sources["log"] = path
	}
	for name, value := range tables {
		g := known[name]
		table, isTable := value.(map[string]any)
		if !isTable || name == "guards" || name == "log" {
			switch name {
			case "guards", "log", "on_error", "inline_override", "unattended":
			default:
				c.problem(path, "%s is not known", name)
			}
			continue
		}
		if g == nil {
			c.problem(path, "[%s]: there is no such guard", name)
			continue
		}
		for key, v := range table {
			c.option(path, g, key, v, trusted)
		}
	}
}

// option sets one option of a guard.
func (c *Config) option(path string, g *guards.Guard, key string, v any, trusted bool) {
	for _, o := range g.Options {
		if o.Name != key {
			continue
		}
		text, ok := optionText(v)
		if !ok {
			c.problem(path, "%s.%s: want a string or a list of strings", g.Name, key)
			return
		}
		full := g.Name + "." + key
		switch {
		case trusted:
		case o.TrustedOnly:
			c.problem(path, "%s does not count: the repository is not trusted", full)
			return
		case o.Join != "":
			before, set := c.Options[full]
			if !set {
				before = o.Default
			}
			text = strings.TrimPrefix(before+o.Join+text, o.Join)
		}
		c.Options[full] = text
		c.Sources[full] = path
		return
	}
	c.problem(path, "%s.%s is not an option of the guard", g.Name, key)
}

func optionText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return fmt.Sprint(v), true
	case int64:
		return fmt.Sprint(v), true
	case []any:
		var items []string
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return "", false
			}
			items = append(items, s)
		}
		return strings.Join(items, ","), true
	}
	return "", false
}

// describe puts the place of a TOML error in front of it.
func describe(err error) string {
	if d, ok := err.(*toml.DecodeError); ok {
		row, col := d.Position()
		return fmt.Sprintf("line %d, column %d: %s", row, col, d.Error())
	}
	return err.Error()
}
