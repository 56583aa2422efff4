package shellcmd

import "strings"

// stringLiteral reads a quoted string at the start of s, in the way most
// languages share: its text and how long it is written. With triple, three
// quotes open a string too.
func stringLiteral(s string, triple bool) (string, int, bool) {
	if s == "" {
		return "", 0, false
	}
	q := s[0]
	if q != '"' && q != '\'' && q != '`' {
		return "", 0, false
	}
	if triple && len(s) >= 6 && s[1] == q && s[2] == q {
		end := strings.Index(s[3:], s[:3])
		if end < 0 {
			return "", 0, false
		}
		return unescapeLiteral(s[3 : 3+end]), end + 6, true
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case q:
			return unescapeLiteral(s[1:i]), i + 1, true
		}
	}
	return "", 0, false
}

func unescapeLiteral(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == '\n' {
			continue
		}
		n, text := escape(s[i:], false)
		if n == 0 {
			b.WriteByte(s[i]) // \" and \' and what has no meaning
			continue
		}
		b.WriteString(text)
		i += n - 1
	}
	return b.String()
}

// delimited reads (…), {…}, […], <…> or any pair of equal characters.
func delimited(s string) (string, int, bool) {
	if s == "" || isWordByte(s[0]) || s[0] == ' ' {
		return "", 0, false
	}
	closer := s[0]
	if i := strings.IndexByte("({[<", s[0]); i >= 0 {
		closer = ")}]>"[i]
	}
	depth := 1
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == closer:
			if depth--; depth == 0 {
				return s[1:i], i + 1, true
			}
		case s[i] == s[0]:
			depth++
		}
	}
	return "", 0, false
}
