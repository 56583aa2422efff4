package settings

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"sallyport/internal/dirs"
)

// OSEnv returns the machine and account of this process.
func OSEnv(getenv func(string) string) Env {
	home := dirs.Home(getenv)
	if home == "" {
		if u, err := user.Current(); err == nil {
			home = u.HomeDir
		}
	}
	return Env{
		GOOS:       runtime.GOOS,
		Home:       home,
		ConfigDir:  getenv("CLAUDE_CONFIG_DIR"),
		ManagedDir: managedHome(runtime.GOOS),
		Getenv:     getenv,
		Policies:   osPolicies,
	}
}

// managedHome is where an administrator's files stand.
func managedHome(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

func (e Env) withDefaults() Env {
	if e.GOOS == "" {
		e.GOOS = runtime.GOOS
	}
	if e.Getenv == nil {
		e.Getenv = os.Getenv
	}
	if e.HasProgram == nil {
		path := e.Getenv("PATH")
		e.HasProgram = func(name string) bool {
			for _, dir := range filepath.SplitList(path) {
				if dir != "" && isExecutable(filepath.Join(dir, name)) {
					return true
				}
			}
			return false
		}
	}
	if e.KernelFile == nil {
		e.KernelFile = os.ReadFile
	}
	if e.Owned == nil {
		e.Owned = owned
	}
	if e.Policies == nil {
		e.Policies = func() []Policy { return nil }
	}
	return e
}

func isExecutable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}

// HookSession is the session that a hook or status line runs in. start is the
// start directory that the event itself names, if any; else CLAUDE_PROJECT_DIR,
// else dir, else the working directory. Without a version it is taken from
// AI_AGENT, where the client puts it. The client's command line is read through
// CLAUDE_PID, which is believed only if that process is an ancestor of this one.
func HookSession(env Env, start, dir, version string) Session {
	getenv := env.withDefaults().Getenv
	s := Session{Start: start, Version: version}
	for _, fallback := range []string{getenv("CLAUDE_PROJECT_DIR"), dir, "."} {
		if s.Start == "" {
			s.Start = fallback
		}
	}
	if s.Version == "" {
		s.Version = versionOf(getenv("AI_AGENT"))
	}
	pid := getenv("CLAUDE_PID")
	s.InClient = pid != ""
	if n, err := strconv.Atoi(pid); err == nil && n > 1 && isAncestor(n) {
		s.Args, s.ArgsSeen = clientArgs(n)
	}
	return s
}

// versionOf reads "claude-code_2-1-332_agent", the client's AI_AGENT.
func versionOf(agent string) string {
	rest, ok := strings.CutPrefix(agent, "claude-code_")
	if !ok {
		return ""
	}
	version, _, _ := strings.Cut(rest, "_")
	version = strings.ReplaceAll(version, "-", ".")
	if _, ok := parseVersion(version); !ok {
		return ""
	}
	return version
}

// maxAncestors bounds the walk up the process tree.
const maxAncestors = 64

func isAncestor(pid int) bool {
	for p, n := os.Getppid(), 0; p > 1 && n < maxAncestors; n++ {
		if p == pid {
			return true
		}
		next, ok := parentOf(p)
		if !ok {
			return false
		}
		p = next
	}
	return false
}

func clientArgs(pid int) ([]string, bool) {
	argv, ok := argvOf(pid)
	if !ok {
		return nil, false
	}
	return withoutProgram(argv)
}

// withoutProgram strips the program, and an interpreter with its script, from
// an argument vector. ok is false if the process has overwritten it, as Node
// does for a process title: what is left is the title and empty words.
func withoutProgram(argv []string) (args []string, ok bool) {
	if len(argv) == 0 {
		return nil, false
	}
	args = argv[1:]
	switch name := strings.TrimSuffix(strings.ToLower(filepath.Base(argv[0])), ".exe"); name {
	case "node", "nodejs", "bun", "deno":
		i := 0
		for i < len(args) && strings.HasPrefix(args[i], "-") {
			i++
		}
		if i == len(args) {
			return nil, false
		}
		args = args[i+1:]
	}
	if len(args) > 1 && strings.Join(args, "") == "" {
		return nil, false
	}
	return args, true
}
