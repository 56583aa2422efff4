package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/setup"
	"sallyport/internal/term"
	"sallyport/settings"
)

// A World is what the probes look at: a directory of an account, from inside
// the sandbox or from outside.
type World struct {
	Environ   []string
	Home      string // absolute
	ConfigDir string // the client's user directory
	Start     string // the directory a session starts in
	Repo      gitdir.Repo
	InRepo    bool
	Settings  *settings.Stack
	// Inside says that this process runs in the client's sandbox, for the
	// reasons in Evidence.
	Inside   bool
	Evidence []string
	Agent    bool // an agent's session started this
	Offline  bool // no probe may leave the machine

	debugf func(format string, args ...any)
}

// NewWorld looks around. dir is the directory to probe.
func NewWorld(environ []string, dir string, debugf func(string, ...any)) (*World, error) {
	w := &World{Environ: environ, Start: filepath.Clean(dir), debugf: debugf}
	if debugf == nil {
		w.debugf = func(string, ...any) {}
	}
	w.Home = dirs.Home(w.Getenv)
	if !filepath.IsAbs(w.Home) {
		return nil, errors.New("HOME is not set to an absolute path")
	}
	if info, err := os.Stat(w.Start); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New(term.Clean(w.Start, 0) + ": not a directory")
	}
	w.ConfigDir = w.Getenv("CLAUDE_CONFIG_DIR")
	if !filepath.IsAbs(w.ConfigDir) {
		w.ConfigDir = filepath.Join(w.Home, ".claude")
	}
	w.Repo, w.InRepo = gitdir.Find(w.Start, w.Getenv)
	env := settings.OSEnv(w.Getenv)
	w.Settings = settings.Load(settings.HookSession(env, w.Start, w.Start, ""), env)
	w.Evidence, w.Inside = setup.InsideSandbox(w.Getenv)
	w.Agent = w.Getenv("CLAUDECODE") == "1"
	w.Offline = w.Getenv("SALLYPORT_OFFLINE") == "1"
	return w, nil
}

// Getenv is the value of an environment variable.
func (w *World) Getenv(name string) string {
	for _, e := range slices.Backward(w.Environ) {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// root is the project: the work tree, or the directory outside one.
func (w *World) root() string {
	if w.InRepo && w.Repo.Root != "" {
		return w.Repo.Root
	}
	return w.Start
}

// short is a path as a person writes it.
func (w *World) short(path string) string {
	if path == w.Home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, w.Home+string(filepath.Separator)); ok {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}

// expand is a path from a configuration file; a relative one stays so.
func (w *World) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(w.Home, rest)
	}
	return path
}

// blame is the cause of a refusal that the system reports: inside the sandbox
// that is the sandbox's doing.
func (w *World) blame(err error) Cause {
	switch {
	case !w.Inside:
		return Other
	case denied(err):
		return Sandbox
	}
	return Unclear
}

// refused makes the result of something that could not be done: a failure with
// an id where the sandbox is, or may be, the cause; a warning elsewhere.
func (w *World) refused(err error, id, format string, args ...any) Result {
	if cause := w.blame(err); cause != Other {
		r := fail(id, cause, format, args...)
		if cause == Unclear {
			r.Advice = "the sandbox hides files as if they did not exist; compare with a snapshot from outside to be sure"
		}
		return r
	}
	return warn(format, args...)
}

// denied reports an answer that a sandbox gives, and a plain missing file does
// not get.
func denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// reason is an error without the path and call that messages name themselves.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Syscall + ": " + call.Err.Error()
	}
	return err.Error()
}

// An outcome is how a program ended.
type outcome struct {
	stdout, stderr string
	exit           *int
	timeout        bool
	err            error // it did not start
}

func (o outcome) ok() bool { return o.exit != nil && *o.exit == 0 }

func (o outcome) say() string {
	switch {
	case o.timeout:
		return "no answer in time"
	case o.err != nil:
		return reason(o.err)
	case firstLine(o.stderr) != "":
		return firstLine(o.stderr)
	}
	return "no message"
}

// maxOutput bounds what is kept of a program's output.
const maxOutput = 64 << 10

// kept holds the beginning of what is written to it.
type kept struct{ strings.Builder }

func (k *kept) Write(p []byte) (int, error) {
	k.Builder.Write(p[:min(len(p), max(0, maxOutput-k.Len()))])
	return len(p), nil
}

// run runs a program in the world's environment, with nothing to read unless
// stdin says otherwise.
func (w *World) run(ctx context.Context, limit time.Duration, stdin, program string, args ...string) outcome {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stderr kept
	p := childproc.Program{Path: program, Args: args, Dir: w.Start, Env: w.Environ, Stderr: &stderr}
	if stdin != "" {
		p.Stdin = strings.NewReader(stdin)
	}
	out, err := p.Output(ctx, maxOutput)
	o := outcome{stdout: string(out), stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		o.timeout = true
	case err == nil:
		o.exit = new(int)
	case errors.As(err, &exit):
		code := exit.ExitCode()
		o.exit = &code
	default:
		o.err = err
	}
	return o
}

func (w *World) lookPath(name string) (string, bool) { return childproc.LookPath(name, w.Getenv) }

// gitConfig asks git for one value; no program of the repository's choice is
// started by that.
func (w *World) gitConfig(ctx context.Context, args ...string) (value string, ok bool) {
	git, found := w.lookPath("git")
	if !found {
		return "", false
	}
	o := w.run(ctx, 5*time.Second, "", git, append([]string{"config"}, args...)...)
	return strings.TrimRight(o.stdout, "\r\n"), o.ok()
}

// scratchName begins the names of files that probes make and remove.
const scratchName = ".sallyport-doctor-"

// tryWrite makes a file in dir and takes it away again.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, scratchName)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("x"))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// readByte reads the first byte of a regular file.
func readByte(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil && info.Size() > 0 {
		return err
	}
	return nil
}

// looks describes what stands at a path, for comparisons.
func looks(path string) string {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case err != nil:
		return "denied"
	case info.Mode()&fs.ModeSymlink != 0:
		if _, err := os.Stat(path); err != nil {
			return "a link that leads nowhere"
		}
		return "a link"
	case info.IsDir():
		d, err := os.Open(path)
		if err != nil {
			return "a directory, denied"
		}
		defer d.Close()
		names, _ := d.Readdirnames(8)
		for _, name := range names {
			// Another probe may be at work there.
			if !strings.HasPrefix(name, scratchName) {
				return "a directory"
			}
		}
		return "an empty directory"
	case info.Mode()&fs.ModeCharDevice != 0:
		return "masked"
	case info.Mode().IsRegular():
		if err := readByte(path); err != nil {
			return "a file, denied"
		}
		return "a file"
	}
	return "something else"
}
