package bypass

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/dirs"
	"sallyport/internal/regularfile"
	"sallyport/internal/tomltext"
)

// A Mode says how hard a request to leave the sandbox is answered.
type Mode string

// Modes.
const (
	Auto  Mode = "auto"  // a question where the client would hide the request, else a notice
	Warn  Mode = "warn"  // never more than a notice
	Ask   Mode = "ask"   // always a question
	Block Mode = "block" // refuse
)

// Set implements flag.Value.
func (m *Mode) Set(s string) error {
	switch v := Mode(s); v {
	case Auto, Warn, Ask, Block:
		*m = v
		return nil
	}
	return errors.New("want auto, warn, ask or block")
}

func (m *Mode) String() string {
	if m == nil {
		return ""
	}
	return string(*m)
}

// UnmarshalText reads a mode from a configuration file.
func (m *Mode) UnmarshalText(text []byte) error { return m.Set(string(text)) }

// A Channel says what a notice is printed on.
type Channel string

// Channels.
const (
	Both   Channel = "both"
	Stderr Channel = "stderr"
	JSON   Channel = "json"
)

// Set implements flag.Value.
func (c *Channel) Set(s string) error {
	switch v := Channel(s); v {
	case Both, Stderr, JSON:
		*c = v
		return nil
	}
	return errors.New("want stderr, json or both")
}

func (c *Channel) String() string {
	if c == nil {
		return ""
	}
	return string(*c)
}

// UnmarshalText reads a channel from a configuration file.
func (c *Channel) UnmarshalText(text []byte) error { return c.Set(string(text)) }

// A Config is what a person can set.
type Config struct {
	Mode     Mode
	Channel  Channel
	Excluded bool // also announce what excludedCommands takes out of the sandbox

	// PromptDescription puts the warning into the call's description, the one
	// text that the client's own bypass dialog shows.
	PromptDescription bool
}

// file is a Config as TOML. Words stand in structs because the decoder asks no
// type whose kind is string to check its own text.
type file struct {
	Mode              struct{ Mode }    `toml:"mode"`
	Channel           struct{ Channel } `toml:"channel"`
	Excluded          bool              `toml:"excluded"`
	PromptDescription bool              `toml:"prompt_description"`
}

// Defaults is the configuration without a file.
func Defaults() Config {
	return Config{Mode: Auto, Channel: Both, PromptDescription: true}
}

// ConfigPath is the file of a person's configuration, empty if there is no
// place for one.
func ConfigPath(getenv func(string) string) string {
	dir := dirs.Config(getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "bypass-warn.toml")
}

// maxConfig bounds a configuration file. Its parser recurses into nested
// arrays and would follow a larger one too deep.
const maxConfig = 64 << 10

// LoadConfig reads a configuration file. No file means [Defaults]. So does one
// that cannot be used, and the error says what is wrong with it, with the path
// and, where there is one, the line.
func LoadConfig(path string) (Config, error) {
	if path == "" {
		return Defaults(), nil
	}
	text, err := regularfile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return Defaults(), nil
	}
	if err != nil {
		return Defaults(), fmt.Errorf("%s: %w", path, err)
	}
	cfg := Defaults()
	decoded := file{struct{ Mode }{cfg.Mode}, struct{ Channel }{cfg.Channel}, cfg.Excluded, cfg.PromptDescription}
	if err := tomltext.Check(path, text); err != nil {
		return Defaults(), err
	}
	if err := toml.Unmarshal(text, &decoded); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return Defaults(), fmt.Errorf("%s:%d:%d: %w", path, line, column, err)
		}
		return Defaults(), fmt.Errorf("%s: %w", path, err)
	}
	return Config{decoded.Mode.Mode, decoded.Channel.Channel, decoded.Excluded, decoded.PromptDescription}, nil
}
