package githooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
)

// A dispatcher is one start of the shared directory's program.
type dispatcher struct {
	*cli.Process
	name  string
	start time.Time
	self  fs.FileInfo // nil if it cannot be told
	dir   string      // directory of the program, links resolved; empty if it cannot be told
}

// Dispatch runs the hooks behind a hook of the shared directory and returns
// the exit code. On Unix it does not return if there is one to run: the process
// becomes that hook.
func Dispatch(p *cli.Process) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(p.Stderr, "git-hook: internal error: %v; hook %s was not run\n", r, p.Name)
			code = 1
		}
	}()
	d := &dispatcher{Process: p, name: p.Name, start: time.Now()}
	if !known(d.name) {
		return 0
	}
	d.self, d.dir = executable(p.Arg0)
	depth := d.depth()
	if depth >= maxDepth {
		fmt.Fprintf(p.Stderr, "git-hook: hooks started each other %d times, %s is not run\n", depth, d.name)
		return 0
	}
	p.Environ = setenv(p.Environ, depthVariable, strconv.Itoa(depth+1))
	d.recordWorktree()
	local := d.localHook()
	chained := d.chainedHook()
	if chained != "" && local != "" {
		if code := d.runChained(chained); code != 0 {
			return code
		}
		chained = ""
	}
	hook := local
	if hook == "" {
		hook = chained
	}
	if hook == "" {
		d.logf("nothing to run")
		return 0
	}
	d.logf("run %s", hook)
	return replace(p, hook, p.Args)
}

func (d *dispatcher) logf(format string, args ...any) {
	d.Logf(debugVariable, "%s after %v: %s", d.name, time.Since(d.start).Round(10*time.Microsecond), term.Clean(fmt.Sprintf(format, args...), 0))
}

func (d *dispatcher) depth() int {
	n, err := strconv.Atoi(d.Getenv(depthVariable))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// executable identifies this program. The word it was started by serves where
// the system does not tell (no /proc).
func executable(arg0 string) (fs.FileInfo, string) {
	path, err := os.Executable()
	if err != nil {
		if !strings.ContainsRune(arg0, filepath.Separator) {
			return nil, ""
		}
		path = arg0
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return info, ""
	}
	return info, filepath.Dir(real)
}

// localHook is the repository's own hook, empty if there is none to run.
func (d *dispatcher) localHook() string {
	dir := d.commonDir()
	if dir == "" {
		d.logf("no repository here")
		return ""
	}
	return d.runnable(filepath.Join(dir, "hooks", d.name))
}

// commonDir is the directory that holds the repository's hooks. Reading git's
// files takes a fraction of the time that asking git takes; what they do not
// answer, git does.
func (d *dispatcher) commonDir() string {
	if repo, ok := gitdir.Find(".", d.Getenv); ok {
		return repo.CommonDir
	}
	cmd := exec.Command("git", "rev-parse", "--git-common-dir")
	cmd.Env = d.Environ
	if out, err := cmd.Output(); err == nil {
		if dir, err := filepath.Abs(strings.TrimSuffix(string(out), "\n")); err == nil {
			return dir
		}
	}
	dir := d.Getenv("GIT_DIR")
	if dir == "" {
		return ""
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return ""
}

// runnable is the path of a hook that git would run, or empty. This program
// under another name is not one.
func (d *dispatcher) runnable(path string) string {
	for _, path := range spellings(path) {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case d.self != nil && os.SameFile(info, d.self):
			d.logf("%s leads back here, ignored", path)
		case !info.Mode().IsRegular():
			d.logf("%s is not a file, ignored", path)
		case !mayRun(path, info):
			d.logf("%s is not executable, ignored", path)
		default:
			return path
		}
	}
	return ""
}

// maxChain bounds the chain file, which holds one path.
const maxChain = 8 << 10

// chainedHook is the hook of the directory that this one took the place of.
func (d *dispatcher) chainedHook() string {
	if d.dir == "" {
		return ""
	}
	data, err := regularfile.Read(filepath.Join(d.dir, ChainFile), maxChain)
	dir := strings.TrimSuffix(string(data), "\n")
	if err != nil || dir == "" {
		return ""
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return d.runnable(filepath.Join(dir, d.name))
}

// runChained runs the chained hook as a child. What git feeds the hook is kept
// for the repository's own.
func (d *dispatcher) runChained(path string) int {
	var stdin io.Reader = d.Stdin
	if slices.Contains(fed, d.name) {
		f, err := spool(d.Stdin)
		if err != nil {
			fmt.Fprintf(d.Stderr, "git-hook: keep the input of %s: %v\n", d.name, err)
			return 1
		}
		if err := asStdin(d.Process, f); err != nil {
			fmt.Fprintf(d.Stderr, "git-hook: keep the input of %s: %v\n", d.name, err)
			return 1
		}
		again, err := os.Open(f.Name())
		os.Remove(f.Name())
		if err != nil {
			fmt.Fprintf(d.Stderr, "git-hook: keep the input of %s: %v\n", d.name, err)
			return 1
		}
		defer again.Close()
		stdin = again
	}
	d.logf("run %s first", path)
	return child(d.Process, path, d.Args, stdin)
}

// spool copies what a reader holds into a file, open at its beginning.
func spool(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "git-hook-")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		os.Remove(f.Name())
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// child runs a hook to its end; a shell runs one that names no interpreter.
func child(p *cli.Process, path string, args []string, stdin io.Reader) int {
	start := func(argv ...string) error {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = p.Environ
		cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, p.Stdout, p.Stderr
		return cmd.Run()
	}
	err := start(command(path, args)...)
	if noFormat(err) {
		err = start(append([]string{"/bin/sh", path}, args...)...)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exitCode(exit.ProcessState)
	}
	fmt.Fprintf(p.Stderr, "git-hook: cannot run %s: %v\n", term.Clean(path, 0), err)
	return 1
}

// recordLimit is what a checkout may be held up for.
const recordLimit = 2 * time.Second

// recordWorktree lists a new worktree in the client's local settings. It does
// its best in silence: a checkout does not depend on it.
func (d *dispatcher) recordWorktree() {
	if d.name != "post-checkout" || d.dir == "" || !FirstTime(d.Args) {
		return
	}
	if info, err := os.Stat(".claude"); err != nil || !info.IsDir() {
		return
	}
	program := filepath.Join(d.dir, Recorder)
	if _, err := os.Stat(program); err != nil {
		d.logf("%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--quiet")
	cmd.Env = d.Environ
	cmd.WaitDelay = 100 * time.Millisecond
	ownGroup(cmd)
	err := cmd.Run()
	d.logf("%s: %v", Recorder, err)
}

func setenv(environ []string, name, value string) []string {
	out := make([]string, 0, len(environ)+1)
	done := false
	for _, e := range environ {
		if strings.HasPrefix(e, name+"=") {
			if done {
				continue
			}
			e, done = name+"="+value, true
		}
		out = append(out, e)
	}
	if !done {
		out = append(out, name+"="+value)
	}
	return out
}
