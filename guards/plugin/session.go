package plugin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sallyport/guards/plugin/wire"
	"sallyport/internal/program"
)

// maxMessage bounds one line of an interpreter, maxAsks the questions of one
// call.
const (
	maxMessage = 1 << 20
	maxAsks    = 10_000
)

// A session is a running interpreter.
type session struct {
	cmd    *exec.Cmd
	to     *os.File
	from   *os.File
	reader *bufio.Reader
	errors *complaint
	number int // grows with every session of a set
	once   sync.Once
}

// complaint keeps the first bytes of what an interpreter prints to stderr: why a
// runtime died stands in its first line.
type complaint struct {
	mu   sync.Mutex
	text head
}

func (c *complaint) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *complaint) first() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return firstLine(strings.TrimSpace(string(c.text.data)))
}

// start starts cmd, whose stdin and stdout become the line to it.
func start(cmd *exec.Cmd) (*session, error) {
	childIn, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		to.Close()
		return nil, err
	}
	s := &session{cmd: cmd, to: to, from: from, reader: bufio.NewReaderSize(from, 16<<10), errors: &complaint{text: head{max: 1024}}}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, s.errors
	cmd.WaitDelay = 100 * time.Millisecond
	ownGroup(cmd)
	err = cmd.Start()
	childIn.Close()
	childOut.Close()
	if err != nil {
		to.Close()
		from.Close()
		return nil, err
	}
	return s, nil
}

// kill ends the interpreter and everything it started, and wakes whoever waits
// for it. It may be called more than once.
func (s *session) kill() {
	s.once.Do(func() {
		killGroup(s.cmd)
		s.to.Close()
		s.from.Close()
		_ = s.cmd.Wait()
	})
}

var errTimeout = errors.New("took too long")

// receive reads one line.
func (s *session) receive(into *wire.Reply) error {
	var line []byte
	for {
		part, err := s.reader.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return fmt.Errorf("its interpreter sent more than %d MiB", maxMessage>>20)
		}
		line = append(line, part...)
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
	if err := json.Unmarshal(line, into); err != nil {
		return errors.New("its interpreter sent something else than an answer")
	}
	return nil
}

// exchange sends a request and serves questions until it is answered. broken
// reports that the session cannot be used any more.
func (s *session) exchange(req wire.Request, x *context, limit time.Duration) (value json.RawMessage, broken bool, err error) {
	late := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		close(late)
		s.kill()
	})
	defer timer.Stop()
	fail := func(err error) (json.RawMessage, bool, error) {
		select {
		case <-late:
			return nil, true, errTimeout
		default:
		}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || isBrokenPipe(err) {
			s.kill()
			err = errors.New("its interpreter ended")
			if text := s.errors.first(); text != "" {
				err = fmt.Errorf("its interpreter ended: %s", text)
			}
		}
		return nil, true, err
	}
	if err := wire.Write(s.to, req); err != nil {
		return fail(err)
	}
	for range maxAsks {
		var r wire.Reply
		if err := s.receive(&r); err != nil {
			return fail(err)
		}
		switch {
		case r.Done && r.Error != "":
			return nil, false, errors.New(r.Error)
		case r.Done:
			return r.Value, false, nil
		case r.Ask == "" || x == nil:
			return nil, true, errors.New("its interpreter sent something else than an answer")
		}
		var m wire.MemberAnswer
		v, err := x.answer(r.Ask, r.Args)
		if m.Value = v; err != nil {
			m.Error = err.Error()
		}
		if err := wire.Write(s.to, m); err != nil {
			return fail(err)
		}
	}
	return nil, true, fmt.Errorf("asked more than %d questions about one command", maxAsks)
}

// ask puts a request to the interpreter of f, starting it and loading f if need
// be.
func (s *Set) ask(f *file, req wire.Request, x *context) (json.RawMessage, error) {
	deadline := time.Now().Add(guardLimit)
	if x != nil {
		deadline = x.deadline
	}
	ss := s.sessions[f.kind]
	if ss == nil {
		cmd, err := s.interpreter(f.kind)
		if err != nil {
			return nil, err
		}
		if ss, err = start(cmd); err != nil {
			return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
		}
		s.started++
		ss.number = s.started
		s.sessions[f.kind] = ss
	}
	put := func(r wire.Request) (json.RawMessage, error) {
		r.ID = s.id(f)
		value, broken, err := ss.exchange(r, x, time.Until(deadline))
		if broken {
			ss.kill()
			s.sessions[f.kind] = nil
		}
		return value, err
	}
	if f.loaded != ss.number {
		if _, err := put(wire.Request{Op: "load", Path: f.path, Source: f.data}); err != nil {
			return nil, limited(err)
		}
		f.loaded = ss.number
	}
	value, err := put(req)
	return value, limited(err)
}

func limited(err error) error {
	if errors.Is(err, errTimeout) {
		return fmt.Errorf("took longer than the %s that a guard has", guardLimit)
	}
	return err
}

func (s *Set) id(f *file) int {
	for i, g := range s.files {
		if g == f {
			return i
		}
	}
	return -1
}

// starlarkProgram is a program of its own so that a hook, which rarely meets a
// Starlark guard, carries nothing of the language.
const starlarkProgram = "agent-guard-starlark"

// interpreter is the process that runs guards of a kind.
func (s *Set) interpreter(k kind) (*exec.Cmd, error) {
	if k == python {
		return s.pythonCommand()
	}
	path, ok := program.Beside(s.opts.Executable, starlarkProgram)
	if !ok {
		path, ok = lookPath(starlarkProgram, s.opts.getenv("PATH"))
	}
	if !ok {
		return nil, fmt.Errorf("%s, which runs Starlark guards, is neither beside %s nor on PATH; install the suite again", starlarkProgram, filepath.Base(s.opts.Executable))
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"GOGC=50", "GOMAXPROCS=2", "GOTRACEBACK=none"}
	return cmd, nil
}
