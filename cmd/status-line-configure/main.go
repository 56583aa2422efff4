// Status-line-configure is the screen of "status-line configure"; see usage.
//
// It is a program of its own so that drawing the line, which happens all day,
// carries nothing of it.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sallyport/internal/cli"
	"sallyport/internal/statusline/config"
	"sallyport/internal/statusline/configure"
	"sallyport/internal/term"
)

const name = "status-line-configure"

func main() { os.Exit(run(cli.OS())) }

func run(p *cli.Process) int {
	fs := cli.NewFlags(name)
	color := term.ColorAuto
	fs.Var(&color, "color", "")
	operands, err := cli.Parse(fs, p.Args)
	switch {
	case err != nil:
	case len(operands) > 0:
		err = cli.Usagef("unexpected argument %q", operands[0])
	default:
		err = screen(p, color.Enabled(p.Stdout, p.Getenv))
	}
	return p.Finish(name, usage, err)
}

// screen lets the person arrange the line, and writes what came of it.
func screen(p *cli.Process, color bool) error {
	path := config.Path(p.Getenv)
	if path == "" {
		return cli.Exitf(cli.ExitInput, "no home directory is known; set HOME or XDG_CONFIG_HOME")
	}
	data, err := config.Read(path)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%s; nothing was changed", clean(err.Error()))
	}
	s, errs := configure.New(configure.Options{
		Path: path, Data: data, Getenv: p.Getenv, Color: color,
		Write: func(new []byte) (string, error) {
			return config.Write(path, data, new, config.Backups(p.Getenv))
		},
	})
	if len(errs) > 0 {
		var text strings.Builder
		for _, e := range errs {
			text.WriteString("\n  " + clean(e.Error()))
		}
		return cli.Exitf(cli.ExitInput, "the present file has mistakes:%s\nMend the lines named, or move the file away to begin with the defaults. Nothing was changed.", text.String())
	}
	if !term.IsTerminal(p.Stdin) || !term.IsTerminal(p.Stdout) || p.Getenv("TERM") == "dumb" {
		return cli.Exitf(cli.ExitInput, "this needs a terminal that can draw a screen; \"status-line config set KEY VALUE\" does the same without one")
	}
	_, err = tea.NewProgram(s, tea.WithInput(p.Stdin), tea.WithOutput(p.Stdout), tea.WithEnvironment(p.Environ)).Run()
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return cli.Exitf(cli.ExitHardStop, "%s; nothing was written", clean(err.Error()))
	}
	report(p.Stdout, s, path)
	return nil
}

// report says what came of it, and how to get back what was not written.
func report(w io.Writer, s *configure.Screen, path string) {
	backup, written := s.Written()
	switch commands := s.Commands(); {
	case written && backup != "":
		fmt.Fprintf(w, "wrote %s; the file as it was: %s\n", clean(path), clean(backup))
	case written:
		fmt.Fprintf(w, "wrote %s\n", clean(path))
	case len(commands) > 0:
		fmt.Fprintf(w, "nothing was written; these commands would make the changes:\n")
		for _, c := range commands {
			fmt.Fprintf(w, "  %s\n", clean(c))
		}
	default:
		fmt.Fprintln(w, "nothing was changed")
	}
}

func clean(text string) string { return term.Clean(text, 8192) }
