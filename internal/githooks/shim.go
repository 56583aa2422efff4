package githooks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
)

// A shim knows how to make one program install hooks into the repository
// although a global core.hooksPath is set.
type shim struct {
	name string
	// install changes the arguments behind "install" and the environment.
	install func(args, environ []string, commonDir string) ([]string, []string)
}

var shims = []shim{
	// prek heeds core.hooksPath and would write into the shared directory.
	{"prek", func(args, environ []string, commonDir string) ([]string, []string) {
		if hasFlag(args, "--git-dir", "-h", "--help") {
			return args, environ
		}
		return append([]string{"--git-dir", commonDir}, args...), environ
	}},
	// pre-commit refuses to install while core.hooksPath is set; an empty
	// value counts as not set.
	{"pre-commit", func(args, environ []string, _ string) ([]string, []string) {
		return args, setHooksPath(environ, "")
	}},
	// lefthook refuses as well, asks git where hooks belong, and goes there if
	// it is told to.
	{"lefthook", func(args, environ []string, commonDir string) ([]string, []string) {
		if hasFlag(args, "-r", "--reset-hooks-path", "-h", "--help") {
			return args, environ
		}
		if !hasFlag(args, "-f", "--force") {
			args = append([]string{"--force"}, args...)
		}
		return args, setHooksPath(environ, filepath.Join(commonDir, "hooks"))
	}},
}

// hasFlag reports that one of the flags is given, alone or with a value.
func hasFlag(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(flags, name)
	})
}

// setHooksPath adds core.hooksPath to the configuration that git takes from
// the environment.
func setHooksPath(environ []string, value string) []string {
	n := 0
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(v)
		}
	}
	index := strconv.Itoa(max(n, 0))
	environ = setenv(environ, "GIT_CONFIG_COUNT", strconv.Itoa(max(n, 0)+1))
	environ = setenv(environ, "GIT_CONFIG_KEY_"+index, "core.hooksPath")
	return setenv(environ, "GIT_CONFIG_VALUE_"+index, value)
}

// ShimNames are the programs that shims exist for.
func ShimNames() (names []string) {
	for _, s := range shims {
		names = append(names, s.name)
	}
	return names
}

// ShimDir is the base name of the directory for shims. Git starts a hook by its
// path, and a person a program by its bare name or from here: this tells the
// hook pre-commit from the program of that name.
const ShimDir = "bin"

// IsShim reports that the process was started as a shim.
func IsShim(p *cli.Process) bool {
	if !slices.Contains(ShimNames(), p.Name) {
		return false
	}
	bare := !strings.ContainsRune(p.Arg0, filepath.Separator)
	return bare || !known(p.Name) || filepath.Base(filepath.Dir(p.Arg0)) == ShimDir
}

const (
	shimVariable = "SALLYPORT_SHIM_DEPTH"
	exitNotFound = 127 // as a shell's for a command that is not there
)

// Shim becomes the real program behind a shim.
func Shim(p *cli.Process) int {
	i := slices.IndexFunc(shims, func(s shim) bool { return s.name == p.Name })
	if i < 0 {
		return exitNotFound
	}
	s := shims[i]
	depth, _ := strconv.Atoi(p.Getenv(shimVariable))
	real := realProgram(p, s.name)
	if real == "" || depth >= maxDepth {
		fmt.Fprintf(p.Stderr, "%s-shim: could not locate the real '%s' binary on PATH\n", s.name, s.name)
		return exitNotFound
	}
	args := p.Args
	if len(args) > 0 && args[0] == "install" {
		if repo, ok := gitdir.Find(".", p.Getenv); ok {
			rest, environ := s.install(args[1:], p.Environ, repo.CommonDir)
			args, p.Environ = append([]string{"install"}, rest...), environ
		}
	}
	// Copies of this program in two directories must not start each other for ever.
	p.Environ = setenv(p.Environ, shimVariable, strconv.Itoa(depth+1))
	return replace(p, real, args)
}

// realProgram is the first program of that name on PATH that is not this one.
func realProgram(p *cli.Process, name string) string {
	self, _ := executable(p.Arg0)
	for _, dir := range filepath.SplitList(p.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, path := range spellings(filepath.Join(dir, name)) {
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && mayRun(path, info) && (self == nil || !os.SameFile(info, self)) {
				return path
			}
		}
	}
	return ""
}
