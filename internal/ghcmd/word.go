package ghcmd

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// leading is the text that a word certainly begins with.
func leading(w shellcmd.Word) string {
	if w.Static {
		return w.Value
	}
	if len(w.Parts) > 0 && w.Parts[0].Kind == shellcmd.Literal {
		return w.Parts[0].Text
	}
	return ""
}

// suffix is w without its first n bytes, which are literal.
func suffix(w shellcmd.Word, n int) shellcmd.Word {
	head := leading(w)
	out, _ := w.After(head[:min(n, len(head))])
	return out
}

// cutWord splits w at the first sep of its leading text.
func cutWord(w shellcmd.Word, sep string) (before string, after shellcmd.Word, ok bool) {
	head := leading(w)
	i := strings.Index(head, sep)
	if i < 0 {
		return head, shellcmd.Word{}, false
	}
	return head[:i], suffix(w, i+len(sep)), true
}

// quote writes w for a POSIX shell. What is not known stays a variable that
// nothing sets.
func quote(w shellcmd.Word) string {
	if w.Static {
		return "'" + strings.ReplaceAll(w.Value, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind == shellcmd.Literal {
			b.WriteString("'" + strings.ReplaceAll(p.Text, "'", `'\''`) + "'")
		} else {
			b.WriteString(`"$__unknown"`)
		}
	}
	if b.Len() == 0 {
		return `"$__unknown"`
	}
	return b.String()
}
