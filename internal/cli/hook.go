package cli

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// Guarded runs a hook's body. A panic in it ends like a hook with nothing to
// say: exit 0 and silence, so that a mistake of ours never breaks a session.
// (A stack overflow cannot be caught: parsers of untrusted text bound their
// depth themselves.)
func (p *Process) Guarded(body func() int) (code int) {
	defer func() {
		if r := recover(); r != nil {
			p.Debugf("panic: %v\n%s", r, debug.Stack())
			code = 0
		}
	}()
	return body()
}

// Debugf logs when SALLYPORT_DEBUG asks for it: "1" logs to stderr, any other
// value but "0" is the path of a file to append to.
func (p *Process) Debugf(format string, args ...any) {
	p.Logf("SALLYPORT_DEBUG", format, args...)
}

// Logf is Debugf for another variable than SALLYPORT_DEBUG.
func (p *Process) Logf(variable, format string, args ...any) {
	target := p.Getenv(variable)
	if target == "" || target == "0" {
		return
	}
	var w io.Writer = p.Stderr
	if target != "1" {
		f, err := os.OpenFile(target, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		defer f.Close()
		w = f
	}
	fmt.Fprintf(w, "%s %s: %s\n", time.Now().UTC().Format(time.RFC3339Nano), p.Name, fmt.Sprintf(format, args...))
}
