package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/statusline/gather"
	"sallyport/internal/term"
	"sallyport/settings"
)

// explain prints the line and where each claim of it comes from.
func explain(p *cli.Process, color bool) error {
	path := config.Path(p.Getenv)
	conf, errs := config.Load(path)
	layout := conf.Layout
	layout.Depth = depth(p, conf, color)
	req := request(p, conf)
	session := gather.Gather(context.Background(), req)
	stack, known := gather.Settings(req)
	sandbox := stack.Sandbox()
	out := p.Stdout
	clean := func(s string) string { return term.Clean(s, 4096) }

	say(out, "%s\n", statusline.Render(&session, &layout))

	say(out, "Sandbox: %s", clean(sandbox.Why))
	say(out, "  sandbox.enabled                   %s", lookup(sandbox.Enabled))
	say(out, "  sandbox.autoAllowBashIfSandboxed  %s", lookup(sandbox.AutoAllow))
	if off, how := stack.PromptsOff(); off {
		say(out, "  permission prompts are off: %s", clean(how))
	}
	say(out, "\nSession:")
	say(out, "  started in      %s", orUnknown(clean(known.Start)))
	say(out, "  client version  %s", orUnknown(clean(known.Version)))
	if known.ArgsSeen {
		say(out, "  command line    seen; --settings and the like count")
	} else {
		say(out, "  command line    not seen; a --settings or a permission flag on it would not be known here")
	}
	say(out, "\nSettings files, strongest first:")
	for _, f := range stack.Files() {
		text := statusName(f.Status)
		if f.Reason != "" {
			text += ": " + clean(f.Reason)
		}
		say(out, "  %-12s %s\n  %-12s   %s", scopeName(f.Scope), clean(f.Path), "", text)
	}
	if problems := stack.Problems(); len(problems) > 0 {
		say(out, "\nProblems in the settings:")
		for _, pr := range problems {
			place := clean(pr.Path)
			if pr.Line > 0 {
				place += ":" + strconv.Itoa(pr.Line)
			}
			say(out, "  %s: %s", place, clean(pr.Message))
		}
	}
	explainRepository(p, req, conf)
	say(out, "\nLayout of the line:")
	switch {
	case path == "":
		say(out, "  the default; no home directory is known")
	case len(errs) == 0 && !exists(path):
		say(out, "  the default; %s is not there", clean(path))
	case len(errs) == 0:
		say(out, "  %s", clean(path))
	}
	for _, err := range errs {
		effect := "the whole file counts as missing"
		if err.Unknown {
			effect = "passed over"
		}
		say(out, "  %s (%s)", clean(err.Error()), effect)
	}
	return nil
}

// gitPatience is how long a person waits for git, who asked why it is late.
const gitPatience = 10 * time.Second

func explainRepository(p *cli.Process, req gather.Request, conf config.Config) {
	r := gather.Describe(context.Background(), req, gitPatience)
	out := p.Stdout
	clean := func(s string) string { return term.Clean(s, 4096) }
	say(out, "\nRepository:")
	if !r.Found {
		say(out, "  none at %s", orUnknown(clean(r.Dir)))
		return
	}
	say(out, "  work tree     %s", orNone(clean(r.Repo.Root)))
	say(out, "  git dir       %s", clean(r.Repo.GitDir))
	if r.Repo.Linked {
		say(out, "  linked to     %s", clean(r.Repo.CommonDir))
	}
	took := r.Took.Round(100 * time.Microsecond)
	switch {
	case !r.Asked:
		say(out, "  git status    not asked: there are no files to compare")
	case r.Err != nil:
		say(out, "  git status    no answer (%v) after %s; the line shows the last known state and ~", r.Err, took)
	case r.Took > conf.Budget:
		say(out, "  git status    answered after %s; the line waits %s and then shows the last known state and ~", took, conf.Budget)
	default:
		say(out, "  git status    answered after %s", took)
	}
	switch {
	case req.Payload.PR.Number > 0:
		say(out, "  pull request  #%d, from the client", req.Payload.PR.Number)
	case r.PRAsked.IsZero():
		say(out, "  pull request  not known: gh has not answered yet")
	case r.PR.Number > 0:
		say(out, "  pull request  #%d, from gh %s ago", r.PR.Number, req.Now.Sub(r.PRAsked).Round(time.Second))
	default:
		say(out, "  pull request  none known; gh was asked %s ago", req.Now.Sub(r.PRAsked).Round(time.Second))
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func lookup(v settings.Value[bool]) string {
	if !v.Set {
		return strconv.FormatBool(v.Value) + ", the default: no file sets it"
	}
	place := term.Clean(v.Source.Path, 4096)
	if v.Source.Line > 0 {
		place += ":" + strconv.Itoa(v.Source.Line)
	}
	return strconv.FormatBool(v.Value) + ", from " + place + " (" + scopeName(v.Source.Scope) + ")"
}

func scopeName(s settings.Scope) string {
	switch s {
	case settings.Managed:
		return "managed"
	case settings.CommandLine:
		return "command line"
	case settings.Local:
		return "local"
	case settings.Project:
		return "project"
	case settings.User:
		return "user"
	}
	return "scope " + strconv.Itoa(int(s))
}

func statusName(s settings.Status) string {
	switch s {
	case settings.Read:
		return "read"
	case settings.Missing:
		return "not there"
	case settings.Invalid:
		return "dropped, not valid"
	case settings.Unreadable:
		return "cannot be read"
	}
	return "not read"
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}
