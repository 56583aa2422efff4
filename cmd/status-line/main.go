// Status-line draws the status line of a coding session; see usage.
//
// Whatever goes wrong, it prints a line and ends with 0. Started with
// "refresh" it is its own background process that renews a cache entry; that
// is no interface for people.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/statusline/gather"
	"sallyport/internal/term"
)

const name = "status-line"

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	// A client that stops reading would end us by signal instead of error.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	if len(p.Args) > 0 && p.Args[0] == "refresh" {
		return p.Guarded(func() int {
			gather.Refresh(p.Environ, p.Getenv, p.Args[1:])
			return cli.ExitOK
		})
	}
	fs := cli.NewFlags(name)
	color := term.ColorAlways
	fs.Var(&color, "color", "")
	explainFlag := fs.Bool("explain", false, "")
	previewFlag := fs.Bool("preview", false, "")
	svg := fs.String("svg", "", "")
	operands, err := cli.Parse(fs, p.Args)
	switch {
	case err != nil:
	case len(operands) > 0 && operands[0] == "config":
		err = editConfig(p, operands[1:])
	case len(operands) == 1 && operands[0] == "configure":
		err = configure(p, color)
	case len(operands) > 0:
		err = cli.Usagef("unexpected argument %q", operands[0])
	case *svg != "" && !*previewFlag:
		err = cli.Usagef("--svg belongs to --preview")
	case *explainFlag && *previewFlag:
		err = cli.Usagef("--explain and --preview exclude each other")
	case *explainFlag:
		err = explain(p, color.Enabled(p.Stdout, p.Getenv))
	case *previewFlag:
		err = preview(p, color.Enabled(p.Stdout, p.Getenv), *svg)
	default:
		draw(p, color.Enabled(p.Stdout, p.Getenv))
	}
	return p.Finish(name, usage, err)
}

// inputLimit is how long the line waits for the client's payload.
const inputLimit = 2 * time.Second

// draw prints the line of the session on stdin.
func draw(p *cli.Process, color bool) {
	line := line(p, color)
	if _, err := io.WriteString(p.Stdout, line+"\n"); err != nil {
		p.Debugf("print: %v", err)
	}
}

func line(p *cli.Process, color bool) (text string) {
	defer func() {
		if r := recover(); r != nil {
			p.Debugf("panic: %v\n%s", r, debug.Stack())
			text = statusline.Render(&statusline.Session{}, &statusline.Layout{Lines: [][]statusline.Entry{{{Segment: "sandbox"}}}})
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	conf, errs := config.Load(config.Path(p.Getenv))
	for _, err := range errs {
		p.Debugf("%v", err)
	}
	layout := conf.Layout
	layout.Depth = depth(p, conf, color)
	if layout.Width == 0 {
		layout.Width = columns(p)
	}
	session := gather.Gather(ctx, request(p, conf))
	return statusline.Render(&session, &layout)
}

// request asks for what the configuration shows of the session on stdin.
func request(p *cli.Process, conf config.Config) gather.Request {
	wants, commands := conf.Segments()
	self, _ := os.Executable()
	return gather.Request{
		Payload: payload(p), Environ: p.Environ, Getenv: p.Getenv, Dir: p.Dir(), Self: self, Now: time.Now(),
		Budget: conf.Budget, Wants: wants,
		Commands: commands, CommandTTL: conf.CommandTTL, CommandLimit: conf.CommandLimit,
		Debugf: p.Debugf,
	}
}

func payload(p *cli.Process) gather.Payload {
	if term.IsTerminal(p.Stdin) {
		return gather.Payload{}
	}
	in, ok := gather.ReadPayload(p.Stdin, inputLimit)
	if !ok {
		p.Debugf("no JSON object on stdin")
	}
	return in
}

func depth(p *cli.Process, conf config.Config, color bool) statusline.Depth {
	if !color {
		return statusline.NoColors
	}
	return conf.Depth(p.Getenv)
}

// clientMargin is what the client keeps of the terminal's width for itself.
const clientMargin = 4

// columns is the width that the client shows; 0 if it did not say.
func columns(p *cli.Process) int {
	n, err := strconv.Atoi(p.Getenv("COLUMNS"))
	if err != nil || n <= 0 {
		return 0
	}
	return max(n-clientMargin, 1)
}

// say prints one line of a command that a person started.
func say(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
