package iso

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sallyport/internal/dirs"
	"sallyport/internal/iso/mode"
	"sallyport/internal/regularfile"
)

// RuntimesName is the file in the suite's configuration directory that adds to
// the table of CLIs.
const RuntimesName = "runtimes.json"

//go:embed runtimes.json
var builtinRuntimes []byte

// A runtimes file is the table of CLIs: what is known of each.
type runtimesFile struct {
	CLIs []*agentCLI `json:"clis"`
}

// An agentCLI is what is known of one CLI.
type agentCLI struct {
	Name    string   `json:"cli"`
	Aliases []string `json:"aliases,omitempty"`
	// Checked is the version that the entry was checked with.
	Checked string `json:"checked_version,omitempty"`
	// Subcommands are those that take the injected arguments behind them.
	Subcommands []string              `json:"subcommands,omitempty"`
	Default     pair                  `json:"default"`
	Modes       map[string]*modeEntry `json:"modes,omitempty"`
	Conflicts   []argumentRule        `json:"conflicts,omitempty"`
	// Arguments and Variables say what a person's own choice means where no
	// mode is applied.
	Arguments []argumentRule `json:"arguments,omitempty"`
	Variables []variableRule `json:"variables,omitempty"`
	// Values are the options that take the next word as their value, Variadic
	// those that take all words up to the next option.
	Values     []string `json:"values,omitempty"`
	Variadic   []string `json:"variadic,omitempty"`
	ConfigHome string   `json:"config_home,omitempty"`
	// State are the paths that the CLI must write to work at all.
	State []string `json:"state,omitempty"`
	// Hosts are those that the CLI must reach to work at all.
	Hosts []string `json:"hosts,omitempty"`
}

// A pair is what holds for a CLI.
type pair struct {
	Native    string `json:"native_sandbox,omitempty"`
	Approvals string `json:"approvals,omitempty"`
}

// A modeEntry is how a CLI is put into a mode.
type modeEntry struct {
	// Level is how it is known: R seen, H the CLI's own help, D documentation,
	// T a third party's observation, U unverified.
	Level  string      `json:"level"`
	Inject []injection `json:"inject,omitempty"`
	// Headless is injected too when one of its When options is given.
	Headless *injection `json:"headless,omitempty"`
	// Settings are merged into the --settings argument.
	Settings json.RawMessage   `json:"settings,omitempty"`
	Set      map[string]string `json:"set,omitempty"`
	// Keep names values of a variable in Set that are stricter and stay, and
	// the mode that they are.
	Keep           map[string]map[string]mode.Mode `json:"keep,omitempty"`
	Unset          []string                        `json:"unset,omitempty"`
	Needs          []need                          `json:"needs,omitempty"`
	Caveats        []string                        `json:"caveats,omitempty"`
	PlatformCaveat map[string][]string             `json:"platform_caveats,omitempty"`
}

// An injection is words that go into the arguments together.
type injection struct {
	When []string `json:"when,omitempty"`
	Args []string `json:"args"`
	// Yields are options of the person's own that make it unnecessary, with
	// the values of them that are a stricter mode.
	Yields map[string]map[string]mode.Mode `json:"yields,omitempty"`
}

// An argumentRule picks options from the arguments. Without a list of values
// the option alone counts.
type argumentRule struct {
	Options []string    `json:"options"`
	Modes   []mode.Mode `json:"modes,omitempty"` // for which it counts; all without
	Values  []string    `json:"values,omitempty"`
	Only    []string    `json:"only,omitempty"`   // any value but these
	Tools   []string    `json:"tools,omitempty"`  // a list that names one of these tools
	Subset  []string    `json:"subset,omitempty"` // a list that names more than these
	pair
}

// A variableRule picks a variable of the CLI's environment.
type variableRule struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	pair
}

// A need is a condition of a mode: one of the platforms, or a program there.
type need struct {
	Platforms []string `json:"platforms,omitempty"`
	Program   string   `json:"program,omitempty"`
	Or        []string `json:"or,omitempty"`
	Get       string   `json:"get,omitempty"`
}

// builtin is the table that the program carries.
var builtin = sync.OnceValue(func() []*agentCLI {
	var file runtimesFile
	if err := json.Unmarshal(builtinRuntimes, &file); err != nil {
		panic(err) // held by a test
	}
	return file.CLIs
})

// findCLI returns the entry of that name or alias, nil if there is none.
func findCLI(table []*agentCLI, name string) *agentCLI {
	for _, c := range table {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// loadRuntimes returns the table with what the person's file adds. A missing
// file is normal; any other trouble is a [*ConfigError].
func loadRuntimes(getenv func(string) string) ([]*agentCLI, error) {
	dir := dirs.Config(getenv)
	if dir == "" {
		return builtin(), nil
	}
	path := filepath.Join(dir, RuntimesName)
	data, err := regularfile.Read(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return builtin(), nil
	}
	if err != nil {
		return nil, &ConfigError{Path: path, Msg: reason(err), Fix: "make it a readable file or remove it"}
	}
	return mergeRuntimes(path, data)
}

// mergeRuntimes adds a person's file to the built-in table. It may add CLIs,
// add unverified modes and remove modes; what a built-in mode injects stays.
func mergeRuntimes(path string, data []byte) ([]*agentCLI, error) {
	fail := func(format string, args ...any) error {
		return &ConfigError{Path: path, Msg: fmt.Sprintf(format, args...), Fix: "a " + RuntimesName + " may add CLIs, add modes of level U and remove modes (null)"}
	}
	var file runtimesFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		e := &ConfigError{Path: path, Msg: strings.TrimPrefix(err.Error(), "json: "), Fix: "correct it"}
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			e.Line, e.Column = position(data, syntax.Offset)
		case errors.As(err, &kind):
			e.Line, e.Column = position(data, kind.Offset)
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			e.Line, e.Column = position(data, int64(len(data)))
			e.Msg = "it ends in the middle of JSON"
		}
		return nil, e
	}
	if dec.More() {
		return nil, fail("more than one JSON value")
	}
	table := slices.Clone(builtin())
	for _, c := range file.CLIs {
		if c == nil || c.Name == "" {
			return nil, fail("an entry without a cli name")
		}
		for name, m := range c.Modes {
			if got, err := mode.Parse(name); err != nil {
				return nil, fail("%s: %v", c.Name, err)
			} else if got == mode.Full {
				return nil, fail("%s: the mode full cannot be changed", c.Name)
			}
			if m != nil && m.Level != "U" {
				return nil, fail("%s, %s: level %q, only U can be added", c.Name, name, m.Level)
			}
		}
		old := findCLI(table, c.Name)
		if old == nil {
			if c.Default.Native == "" {
				c.Default.Native = "none"
			}
			if c.Default.Approvals == "" {
				c.Default.Approvals = "on"
			}
			maps := map[string]*modeEntry{}
			for name, m := range c.Modes {
				if m != nil {
					maps[name] = m
				}
			}
			c.Modes = maps
			table = append(table, c)
			continue
		}
		merged := *old
		merged.Modes = map[string]*modeEntry{}
		for name, m := range old.Modes {
			merged.Modes[name] = m
		}
		for name, m := range c.Modes {
			switch {
			case m == nil:
				delete(merged.Modes, name)
			case old.Modes[name] != nil:
				return nil, fail("%s, %s: a built-in mode can be removed, not changed", c.Name, name)
			default:
				merged.Modes[name] = m
			}
		}
		merged.Conflicts = append(slices.Clone(old.Conflicts), c.Conflicts...)
		merged.Values = append(slices.Clone(old.Values), c.Values...)
		merged.State = append(slices.Clone(old.State), c.State...)
		table[slices.Index(table, old)] = &merged
	}
	return table, nil
}

func position(data []byte, offset int64) (line, col int) {
	before := data[:min(max(int(offset)-1, 0), len(data))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// modes returns the modes of a CLI that are verified, and those that are not.
func (c *agentCLI) modes() (verified, unverified mode.Set) {
	verified = mode.SetOf(mode.Full)
	if c == nil {
		return verified, 0
	}
	for name, m := range c.Modes {
		parsed, err := mode.Parse(name)
		switch {
		case err != nil:
		case m.Level == "U":
			unverified |= mode.SetOf(parsed)
		default:
			verified |= mode.SetOf(parsed)
		}
	}
	return verified, unverified
}

// basis names what a level rests on.
func basis(level string) string {
	switch level {
	case "R":
		return "observed"
	case "H":
		return "help"
	case "D":
		return "documented"
	case "T":
		return "reported"
	}
	return "assumed"
}

// grammar is how the CLI reads its options.
func (c *agentCLI) grammar() grammar {
	if c.Name == "claude" {
		return claudeGrammar
	}
	return grammar{required: c.Values, variadic: c.Variadic}
}

// A missing need is a condition that does not hold.
type missingNeed struct {
	Mode mode.Mode `json:"mode"`
	Need string    `json:"need"`
	get  string
}

// missing lists the conditions of a mode that do not hold here. has tells
// whether a program is on PATH.
func (c *agentCLI) missing(m mode.Mode, has func(string) bool) []missingNeed {
	entry := c.Modes[m.String()]
	if entry == nil {
		return nil
	}
	var list []missingNeed
	for _, n := range entry.Needs {
		here := len(n.Platforms) == 0 || slices.Contains(n.Platforms, runtime.GOOS)
		switch {
		case n.Program == "" && !here:
			list = append(list, missingNeed{m, strings.Join(platformNames(n.Platforms), " or "), "the mode exists on no other system"})
		case n.Program == "" && runtime.GOOS == "linux" && isWSL1():
			list = append(list, missingNeed{m, "WSL2", "convert the distribution with wsl --set-version"})
		case n.Program != "" && here && !has(n.Program) && !slices.ContainsFunc(n.Or, has):
			list = append(list, missingNeed{m, strings.Join(append([]string{n.Program}, n.Or...), " or "), n.Get})
		}
	}
	return list
}

func platformNames(platforms []string) []string {
	names := map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}
	var list []string
	for _, p := range platforms {
		list = append(list, names[p])
	}
	return list
}

// isWSL1 reports the Windows Subsystem for Linux without a Linux kernel, where
// no sandbox can be built.
func isWSL1() bool {
	release, err := regularfile.Read("/proc/sys/kernel/osrelease", 1<<10)
	return err == nil && bytes.Contains(release, []byte("Microsoft")) && !bytes.Contains(release, []byte("WSL2"))
}
