package shellcmd

import "strings"

// Leading is the text that w certainly begins with.
func (w Word) Leading() string {
	if w.Static {
		return w.Value
	}
	if len(w.Parts) > 0 && w.Parts[0].Kind == Literal {
		return w.Parts[0].Text
	}
	return ""
}

// Skip is w without the first n bytes of its leading text.
func (w Word) Skip(n int) Word {
	head := w.Leading()
	out, _ := w.After(head[:min(n, len(head))])
	return out
}

// Cut splits w at the first sep of its leading text.
func (w Word) Cut(sep string) (before string, after Word, ok bool) {
	head := w.Leading()
	i := strings.Index(head, sep)
	if i < 0 {
		return head, Word{}, false
	}
	return head[:i], w.Skip(i + len(sep)), true
}

// String is w for a person: what is not known is named as it is written.
func (w Word) String() string {
	if w.Static || len(w.Parts) == 0 {
		return w.Value
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case Variable:
			b.WriteString("$" + p.Text)
		case Substitution:
			b.WriteString("$(…)")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Quote writes w for a POSIX shell, as a word that is no keyword and no alias. What is not known stays a variable that
// nothing sets.
func (w Word) Quote() string {
	const unknown = `"$__unknown"`
	if w.Static {
		return singleQuote(w.Value)
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind == Literal {
			b.WriteString(singleQuote(p.Text))
		} else {
			b.WriteString(unknown)
		}
	}
	if b.Len() == 0 {
		return unknown
	}
	return b.String()
}

// singleQuote quotes even what need not be quoted, so that a word stays no
// keyword and no alias.
func singleQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
