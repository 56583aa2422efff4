// Package childproc runs helper programs that must not outlive their use: each
// stands in a process group of its own and is killed with all its children
// when its context ends. A detached one, on the contrary, outlives its parent.
package childproc

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// LookPath finds a program on the PATH that getenv knows. Only absolute
// entries count: a relative one would let the directory of the moment, which
// may be a hostile repository, choose the program.
func LookPath(name string, getenv func(string) string) (string, bool) {
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		fi, err := os.Stat(path)
		if err == nil && fi.Mode().IsRegular() && (runtime.GOOS == "windows" || fi.Mode()&0o111 != 0) {
			return path, true
		}
	}
	return "", false
}

// A Program is a program to run. Path is absolute; Dir and Env are what they
// are in [exec.Cmd], and so are Stdin and Stderr: without them stdin is empty
// and stderr is dropped.
type Program struct {
	Path   string
	Args   []string // without the program's name
	Dir    string
	Env    []string
	Stdin  io.Reader
	Stderr io.Writer
	// Session starts the program without our terminal, which an interactive
	// shell would else wait for.
	Session bool
}

// grace is how long Wait may go on after the group was killed, for the
// kernel's part of the work.
const grace = 50 * time.Millisecond

func (p Program) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	cmd.Stdin, cmd.Stderr = p.Stdin, p.Stderr
	cmd.SysProcAttr = ownGroup()
	if p.Session {
		cmd.SysProcAttr = ownSession()
	}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = grace
	return cmd
}

// Read starts the program and hands its output to consume. Once consume
// returns, the program is not needed any more: what is left of its group is
// killed. The error is ctx's if that ended first, else that of the program,
// which counts only if consume read to the end.
func (p Program) Read(ctx context.Context, consume func(io.Reader) (end bool)) error {
	cmd := p.command(ctx)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// A grandchild may hold the pipe open after the kill, and the reader with
	// it; closing our end frees the reader.
	stop := context.AfterFunc(ctx, func() { out.Close() })
	end := consume(out)
	stop()
	if !end {
		killGroup(cmd.Process)
	}
	err = cmd.Wait()
	killGroup(cmd.Process)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !end {
		return nil
	}
	return err
}

// Output is the program's output, of which at most max bytes are kept.
func (p Program) Output(ctx context.Context, max int64) ([]byte, error) {
	var data []byte
	err := p.Read(ctx, func(r io.Reader) bool {
		data, _ = io.ReadAll(io.LimitReader(r, max))
		_, err := io.Copy(io.Discard, r)
		return err == nil
	})
	return data, err
}

// StartDetached starts the program in a session of its own, with no tie to our
// files: a pipe that our parent reads is closed when we end. keep, if not nil,
// is inherited as file descriptor 3. done is closed when the program ended, if
// we live to see it.
func (p Program) StartDetached(keep *os.File) (done <-chan struct{}, err error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	cmd.SysProcAttr = ownSession()
	if keep != nil {
		cmd.ExtraFiles = []*os.File{keep}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ch := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ch)
	}()
	return ch, nil
}
