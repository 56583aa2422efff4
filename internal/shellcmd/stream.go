package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A sink collects what commands print, as marked text.
type sink struct {
	w    *walker
	b    strings.Builder
	full bool
}

func (s *sink) add(text string) {
	if s == nil || s.full {
		return
	}
	if s.w.made -= len(text); s.w.made < 0 || s.b.Len()+len(text) > maxValue {
		s.full = true
		s.w.line.Limited = true
		text = otherMark
	}
	s.b.WriteString(text)
}

// unknown adds output that only running c would show.
func (s *sink) unknown(c *Command) {
	if s == nil || s.full {
		return
	}
	s.add(s.w.mark(Part{Kind: Substitution, From: []*Command{c}}))
}

func (s *sink) text() string { return s.b.String() }

// redirections are those of one statement.
type redirections struct {
	list  []Redirect
	in    *string // set if standard input is redirected
	out   *sink   // set if standard output is
	outTo bool
	files []output
}

type output struct {
	path string
	sink *sink // nil: content is not known (standard error)
	add  bool
}

// apply changes a shell's streams.
func (r *redirections) apply(sh *shell) {
	if r.in != nil {
		sh.in = r.in
	}
	if r.outTo {
		sh.out = r.out
	}
}

// done records what was written to files; by is the command, if it is one.
func (r *redirections) done(w *walker, sh *shell, by *Command) {
	for _, f := range r.files {
		text := ""
		if f.sink != nil {
			text = f.sink.text()
		} else if by != nil {
			text = w.mark(Part{Kind: Substitution, From: []*Command{by}})
		} else {
			text = otherMark
		}
		w.write(f.path, text, f.add)
	}
}

// redirects expands the redirections of a statement.
func (w *walker) redirects(sh *shell, list []*syntax.Redirect) redirections {
	var r redirections
	for _, rd := range list {
		out := Redirect{Op: rd.Op.String()}
		if rd.N != nil {
			out.Fd = rd.N.Value
		}
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := w.heredoc(sh, rd)
			out.Target = w.word(w.literal(heredocWord(rd.Word)))
			out.Target.Pos, out.Target.End = w.span(rd.Word.Pos(), rd.Word.End())
			out.Body = w.text(body)
			w.inputOn(&r, out.Fd, body)
		case syntax.WordHdoc:
			body := w.value(sh, rd.Word) + "\n"
			out.Target = w.word(strings.TrimSuffix(body, "\n"))
			out.Target.Pos, out.Target.End = w.span(rd.Word.Pos(), rd.Word.End())
			out.Body = w.text(body)
			w.inputOn(&r, out.Fd, body)
		default:
			w.redirectFile(sh, rd, &out, &r)
		}
		r.list = append(r.list, out)
	}
	return r
}

// inputOn makes a text readable on a descriptor.
func (w *walker) inputOn(r *redirections, fd, text string) {
	switch {
	case fd == "" || fd == "0":
		r.in = &text
	case isDigits(fd):
		w.write("/dev/fd/"+fd, text, false)
	}
}

func (w *walker) redirectFile(sh *shell, rd *syntax.Redirect, out *Redirect, r *redirections) {
	target := w.fields(sh, rd.Word)
	if len(target) == 0 {
		target = []Word{w.word("")}
	}
	out.Target = target[0]
	raw := target[0].raw
	switch rd.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		text, ok := w.fileText(sh, raw)
		if !ok {
			text = w.mark(Part{Text: out.Target.Value, Kind: Other})
		}
		w.inputOn(r, out.Fd, text)
	case syntax.DplIn:
		if out.Fd == "" || out.Fd == "0" {
			text, ok := w.fileText(sh, "/dev/fd/"+raw)
			if !ok {
				text = otherMark
			}
			r.in = &text
		}
	case syntax.DplOut:
		// >&file writes both streams; >&2 and >&1 copy a descriptor.
		if raw == "1" || raw == "2" || raw == "-" || isDigits(raw) {
			if (out.Fd == "" || out.Fd == "1") && raw != "1" {
				r.outTo, r.out = true, nil
			}
			return
		}
		w.outputTo(sh, raw, false, r)
	case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.AppClob:
		add := rd.Op == syntax.AppOut || rd.Op == syntax.AppClob
		if out.Fd == "" || out.Fd == "1" {
			w.outputTo(sh, raw, add, r)
		} else {
			r.files = append(r.files, output{path: w.path(sh, raw), add: add})
		}
	case syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
		w.outputTo(sh, raw, rd.Op == syntax.AppAll || rd.Op == syntax.AppAllClob, r)
	}
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func (w *walker) outputTo(sh *shell, raw string, add bool, r *redirections) {
	switch raw {
	case "/dev/stdout", "/dev/fd/1":
		return
	case "/dev/null", "/dev/stderr", "/dev/tty", "/dev/fd/2":
		r.outTo, r.out = true, nil
		return
	}
	s := &sink{w: w}
	r.outTo, r.out = true, s
	r.files = append(r.files, output{path: w.path(sh, raw), sink: s, add: add})
}

// heredoc is the body of a here-document as the command reads it.
func (w *walker) heredoc(sh *shell, rd *syntax.Redirect) string {
	if rd.Hdoc == nil {
		return ""
	}
	quoted := false
	for _, p := range rd.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.IndexByte(lit.Value, '\\') >= 0 {
			quoted = true
		}
	}
	e := &expander{w: w, sh: sh}
	for _, p := range rd.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if quoted && !ok {
			// The parser looks at the last piece of the delimiter only
			// (<<'E'OF); the body is what is written.
			from, to := p.Pos().Offset(), rd.Hdoc.Parts[len(rd.Hdoc.Parts)-1].End().Offset()
			if src := w.ctx.src; src != nil && from < to && int(to) <= len(src.text) {
				e.lit(src.text[from:to])
			}
			break
		}
		if ok && quoted {
			e.lit(lit.Value)
		} else if ok {
			e.lit(unescapeHeredoc(lit.Value))
		} else {
			e.part(p, true)
		}
	}
	body := e.joined()
	if rd.Op == syntax.DashHdoc {
		lines := strings.SplitAfter(body, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		body = strings.Join(lines, "")
	}
	return body
}

// unescapeHeredoc is unescapeDouble, but a quote keeps its backslash.
func unescapeHeredoc(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return unescapeDouble(strings.ReplaceAll(s, `\"`, `\\"`))
}

func heredocWord(word *syntax.Word) string {
	var b strings.Builder
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				if lit, ok := q.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
		}
	}
	return b.String()
}

// substitution is the output of $(…) without its trailing newlines.
func (w *walker) substitution(sh *shell, c *syntax.CmdSubst) string {
	f := sh.fork()
	s := &sink{w: w}
	f.out = s
	name := "$(…)"
	if c.Backquotes {
		name = "`…`"
	}
	// $(<file) has no command of its own.
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Redirs[0].Op == syntax.RdrIn {
		r := w.redirects(f, c.Stmts[0].Redirs)
		if r.in != nil {
			s.add(*r.in)
		}
	} else {
		w.inSubshell(name, func() { w.stmts(f, c.Stmts) })
	}
	if c.TempFile || c.ReplyVar {
		sh.commit(f)
		sh.out = nil
	}
	return strings.TrimRight(s.text(), "\n")
}

// inSubshell runs f with a layer, outside the pipe that the word stands in.
func (w *walker) inSubshell(name string, f func()) {
	piped := w.ctx.piped
	w.ctx.piped = nil
	w.layer(name, f)
	w.ctx.piped = piped
}

// processSubstitution gives <(…) a file name under which its text is known.
func (w *walker) processSubstitution(sh *shell, p *syntax.ProcSubst) string {
	f := sh.fork()
	s := &sink{w: w}
	if p.Op != syntax.CmdOut {
		f.out = s
	} else {
		text := otherMark
		f.in, f.out = &text, nil
	}
	before := len(w.line.Commands)
	w.inSubshell(p.Op.String()+"…)", func() { w.stmts(f, p.Stmts) })
	name := w.mark(Part{Kind: Substitution, From: w.line.Commands[before:len(w.line.Commands):len(w.line.Commands)]})
	if p.Op != syntax.CmdOut {
		w.write(w.path(sh, name), s.text(), false)
	}
	return name
}
