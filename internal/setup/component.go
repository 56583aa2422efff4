// Package setup puts the suite's programs in place and connects them to the
// settings of a person's coding agent, and takes both away again.
//
// [Install] and [Uninstall] first compute a plan, show it, and change nothing
// until it was approved. A run is all or nothing: when one change fails, those
// before it are undone. Bytes of a settings or shell start file that are not
// the suite's are never touched.
package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sallyport/internal/githooks"
)

// A Component is one feature that install can put in place. The table below is
// all that install, uninstall and the verify table know of it: a new component
// is a new row.
type Component struct {
	Name    string
	Off     bool     // not installed unless asked for
	Program string   // executable, looked for in the source directory
	Beside  []string // programs that Program starts, in the same directory
	Links   []string // further names of the program
	Hooks   []Hook
	// StatusLine makes the program the client's status line.
	StatusLine bool
	// Shell asks for the block in the shell's start file.
	Shell bool
	// Aliases are names under which other toolkits install the same thing.
	Aliases []string
}

// A Hook is one entry in the client's hook settings.
type Hook struct {
	Event   string
	Tools   []string // tools the matcher selects; none means no matcher
	Args    []string
	Timeout int // seconds
	// Since is the first client version that knows the event; an older one
	// complains about it at every start, so an unknown version counts as older.
	Since string
	// Option is the word of --with that the entry waits for.
	Option string
	// Guards marks an entry that --fail-closed lets block on its own failure.
	Guards bool
}

// SelfProtect is the option that lets agent-guard see the client's file tools.
const SelfProtect = "self-protect"

// manager is the program this package is linked into; it is installed with
// every selection, because it is what takes the selection away again.
const manager = "agent-setup"

// recorder is its name as the command that lists a worktree in local settings.
const recorder = "add-project-root"

// programs lists the programs of components, the manager first, each once.
func programs(components []Component) []string {
	names := []string{manager}
	for _, c := range components {
		for _, name := range c.programs() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

var shellTools = []string{"Bash", "PowerShell", "Monitor"}

// components lists what can be installed, in the order of plans and settings.
// A component whose program is not in the source directory does not exist for
// this run.
func components() []Component {
	return []Component{
		{
			Name:    "bypass-warn",
			Program: "bypass-warn",
			Hooks:   []Hook{{Event: "PreToolUse", Tools: shellTools, Timeout: 5}},
			Aliases: []string{"sandbox-bypass-warn"},
		},
		{
			Name:    "agent-guard",
			Program: "agent-guard",
			Beside:  []string{"agent-guard-starlark"},
			Hooks: []Hook{
				{Event: "PreToolUse", Tools: shellTools, Timeout: 30, Guards: true},
				{Event: "PreSkillShellCommand", Timeout: 30, Guards: true, Since: "2.1.332"},
				{Event: "PreToolUse", Tools: []string{"Write", "Edit", "NotebookEdit"}, Timeout: 30, Guards: true, Option: SelfProtect},
			},
		},
		{
			Name:    "error-hint",
			Program: "error-hint",
			Hooks: []Hook{
				{Event: "PostToolUse", Tools: []string{"Bash", "PowerShell"}, Timeout: 5},
				{Event: "PostToolUseFailure", Tools: []string{"Bash", "PowerShell"}, Timeout: 5},
			},
			Aliases: []string{"sandbox-error-hint"},
		},
		{
			Name:       "status-line",
			Program:    "status-line",
			Beside:     []string{"status-line-configure"},
			StatusLine: true,
			Aliases:    []string{"sandbox-status-line"},
		},
		{
			Name:    "agent-iso",
			Program: "agent-iso",
			Links:   []string{"claude-iso", "codex-iso", "opencode-iso", "kiro-iso", "gemini-iso", "copilot-iso"},
			Shell:   true,
		},
		{
			Name:    "project-root",
			Program: manager,
			Links:   []string{recorder},
		},
		{
			// Its program waits until "scope whole-user" puts it to work.
			Name:    "git-hooks",
			Program: githooks.Program,
		},
		{
			Name:    "remind",
			Program: manager,
			Hooks:   []Hook{{Event: "SessionStart", Args: []string{"remind", "--hook"}, Timeout: 5}},
		},
		{
			Name:    "sandbox-lint",
			Program: "sandbox-lint",
		},
		{
			Name:    "agent-policy",
			Program: "agent-policy",
		},
	}
}

// programs are the executables of the component.
func (c Component) programs() []string { return append([]string{c.Program}, c.Beside...) }

// available returns the components whose programs stand in dir. The manager
// alone is nothing to install.
func available(dir string) []Component {
	var out []Component
	for _, c := range components() {
		missing := slices.ContainsFunc(c.programs(), func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, executable(name)))
			return err != nil || !info.Mode().IsRegular()
		})
		if !missing {
			out = append(out, c)
		}
	}
	if len(programs(out)) == 1 {
		return nil
	}
	return out
}

// executable is the file name of a program on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// A Selection says which components a person asked for.
type Selection struct {
	Only, With, Without []string
	All                 bool
}

// choose applies a selection to what is available and returns the chosen
// components and the options switched on.
func (s Selection) choose(have []Component) (chosen []Component, options []string, err error) {
	var names, words []string
	for _, c := range have {
		names = append(names, c.Name)
		for _, h := range c.Hooks {
			if h.Option != "" && !slices.Contains(words, h.Option) {
				words = append(words, h.Option)
			}
		}
	}
	check := func(list []string, valid []string) error {
		for _, n := range list {
			if !slices.Contains(valid, n) {
				return unknownName("component", n, valid)
			}
		}
		return nil
	}
	if err := check(s.Only, names); err != nil {
		return nil, nil, err
	}
	if err := check(s.With, append(slices.Clone(names), words...)); err != nil {
		return nil, nil, err
	}
	if err := check(s.Without, names); err != nil {
		return nil, nil, err
	}
	for _, c := range have {
		on := s.All || !c.Off
		if len(s.Only) > 0 {
			on = slices.Contains(s.Only, c.Name)
		}
		on = on || slices.Contains(s.With, c.Name) || slices.ContainsFunc(c.Hooks, func(h Hook) bool {
			return h.Option != "" && slices.Contains(s.With, h.Option)
		})
		if on && !slices.Contains(s.Without, c.Name) {
			chosen = append(chosen, c)
		}
	}
	for _, w := range words {
		if slices.Contains(s.With, w) {
			options = append(options, w)
		}
	}
	return chosen, options, nil
}

// identify tells which component a program name belongs to. other is true for
// a name that another toolkit installs.
func identify(name string, script bool) (component string, other, ok bool) {
	for _, c := range components() {
		switch {
		case name == c.Program && (name != manager || len(c.Hooks) > 0):
			return c.Name, script, true
		case slices.Contains(c.Aliases, name):
			return c.Name, true, true
		}
	}
	return "", false, false
}

// matcher renders the tools of a hook, all of them or only the shell proper.
func (h Hook) matcher(seed bool) string {
	if seed && slices.Contains(h.Tools, "Bash") {
		return "Bash"
	}
	return strings.Join(h.Tools, "|")
}
