package iso

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"sallyport/internal/dirs"
	"sallyport/internal/iso/mode"
	"sallyport/internal/regularfile"
)

// ConfigName is the launcher's file in the suite's configuration directory.
const ConfigName = "iso.toml"

// maxConfig bounds the file, and with it how deep its arrays can nest: the
// TOML parser recurses.
const maxConfig = 256 << 10

// A Config is what iso.toml says.
type Config struct {
	Path string // of the file, whether it exists or not; empty if no place is known
	// Pass are the variables to keep on every start.
	Pass []Allowed
	// Floor is the mode that no start goes below; None without one.
	Floor mode.Mode
	Wrap  WrapConfig
}

// A WrapConfig adds to the policy of --wrap.
type WrapConfig struct {
	AllowWrite []string `toml:"allow_write"`
	DenyRead   []string `toml:"deny_read"`
	Network    *bool    `toml:"network"`
	Domains    []string `toml:"allowed_domains"`
}

// DefaultConfig is a configuration file in which everything is commented out.
const DefaultConfig = `# Sallyport: what agent-iso gives to the CLIs it starts. Everything here is optional.

# Variables that are passed on in addition to the fixed list: names, or a
# prefix and "*", such as "LC_*". "*" alone is refused. Do not name
# credentials here: they would reach every session; allow one for a single
# start instead, with CLAUDE_ISO_ALLOW=NAME.
#
# pass = [
#   "COLORTERM", "TERM_PROGRAM", "TMPDIR", "TZ", "LC_*",
#
#   # behind a proxy; an address may hold a password
#   "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
#   "http_proxy", "https_proxy", "no_proxy", "all_proxy",
#
#   # own certificate authority
#   "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
# ]

# The sandbox mode that no start may go below, whatever is asked for:
# read-only, restricted or workspace-write.
#
# sandbox_floor = "workspace-write"

# What --wrap adds to the policy that it takes from Claude Code's settings:
# paths that may be written, paths that may not be read ("~/" is the home
# directory), whether there is a network, and for srt, which lets nothing else
# through, domains.
#
# [wrap]
# allow_write = ["~/.cache/go-build"]
# deny_read = ["~/.aws", "~/.ssh"]
# network = true
# allowed_domains = ["api.example.com", "*.example.org"]
`

// A ConfigError is a configuration file that cannot be used: where, what, and
// what to do about it.
type ConfigError struct {
	Path         string
	Line, Column int // 1-based, 0 if unknown
	Msg          string
	Fix          string
}

func (e *ConfigError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			where += fmt.Sprintf(":%d", e.Column)
		}
	}
	return where + ": " + e.Msg + "; " + e.Fix
}

// LoadConfig reads the configuration. A missing file is normal; any other
// trouble is a [*ConfigError], because a setting that was meant to hold must
// not be lost in silence.
func LoadConfig(getenv func(string) string) (Config, error) {
	dir := dirs.Config(getenv)
	if dir == "" {
		return Config{}, nil
	}
	c := Config{Path: filepath.Join(dir, ConfigName)}
	data, err := regularfile.Read(c.Path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, &ConfigError{Path: c.Path, Msg: reason(err), Fix: "make it a readable file or remove it"}
	}
	return c, c.parse(data)
}

func (c *Config) parse(data []byte) error {
	var file struct {
		Pass  []string   `toml:"pass"`
		Floor *string    `toml:"sandbox_floor"`
		Wrap  WrapConfig `toml:"wrap"`
	}
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return c.tomlError(err)
	}
	c.Wrap = file.Wrap
	if file.Floor != nil {
		floor, err := mode.Parse(*file.Floor)
		if err != nil {
			line, col := find(data, *file.Floor)
			return &ConfigError{c.Path, line, col, "sandbox_floor: " + err.Error(), "use one of these"}
		}
		c.Floor = floor
	}
	for _, path := range slices.Concat(c.Wrap.AllowWrite, c.Wrap.DenyRead) {
		if !filepath.IsAbs(path) && path != "~" && !strings.HasPrefix(path, "~/") {
			line, col := find(data, path)
			return &ConfigError{c.Path, line, col, fmt.Sprintf("%q in wrap is a relative path", path), `write it from the root, or from the home directory with "~/"`}
		}
	}
	for _, pattern := range file.Pass {
		fail := func(msg, fix string) error {
			line, col := find(data, pattern)
			return &ConfigError{c.Path, line, col, msg, fix}
		}
		prefix, isGlob := strings.CutSuffix(pattern, "*")
		switch {
		case isGlob && prefix == "":
			return fail(`"*" in pass would pass every variable, credentials included`, `name the variables, or use a prefix such as "LC_*"`)
		case isName(pattern):
		case isGlob && isName(prefix):
			if !strings.HasSuffix(prefix, "_") {
				return fail(fmt.Sprintf("%q in pass is too wide", pattern), fmt.Sprintf(`end the prefix with "_", as in %q`, prefix+"_*"))
			}
		default:
			return fail(fmt.Sprintf("%q in pass is not the name of a variable", pattern), `use names, or a prefix and "*", such as "LC_*"`)
		}
		c.Pass = append(c.Pass, Allowed{Pattern: pattern, Source: c.Path, File: true})
	}
	return nil
}

func (c *Config) tomlError(err error) error {
	var strict *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		first := strict.Errors[0]
		line, col := first.Position()
		return &ConfigError{c.Path, line, col, fmt.Sprintf("unknown key %q", strings.Join(first.Key(), ".")), "correct or remove it; agent-iso --print-config shows the keys"}
	case errors.As(err, &decode):
		line, col := decode.Position()
		return &ConfigError{c.Path, line, col, strings.TrimPrefix(decode.Error(), "toml: "), "correct that line"}
	}
	return &ConfigError{Path: c.Path, Msg: strings.TrimPrefix(err.Error(), "toml: "), Fix: "correct it; agent-iso --print-config shows a valid one"}
}

// find returns the position of a quoted word, 0 if it cannot be told.
func find(data []byte, word string) (line, col int) {
	for _, quote := range []string{`"`, `'`} {
		if i := bytes.Index(data, []byte(quote+word+quote)); i >= 0 {
			before := data[:i]
			return bytes.Count(before, []byte("\n")) + 1, i - bytes.LastIndexByte(before, '\n')
		}
	}
	return 0, 0
}

// reason is an error's cause without the path, which the message names already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
