package agentguard

import "strings"

const redacted = "[redacted]"

// tokenPrefixes begin the tokens that services hand out.
var tokenPrefixes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "sk-", "pk_live_", "sk_live_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "xoxs-", "xapp-",
	"AKIA", "ASIA", "AIza", "ya29.", "npm_", "pypi-", "dop_v1_", "hf_", "shpat_", "SG.", "eyJ",
}

// secretNames are parts of the names of variables, options and headers whose
// value is a secret.
var secretNames = []string{"token", "secret", "passwd", "password", "api_key", "api-key", "apikey", "access_key", "private_key", "credential", "authorization", "auth"}

// Redact replaces passwords in addresses, tokens of known forms, and the values
// of variables, options and headers whose name says that they are secret.
func Redact(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if rest := s[i:]; strings.HasPrefix(rest, "://") {
			end := strings.IndexAny(rest[3:], " \t\r\n\"'`<>/?#")
			if end < 0 {
				end = len(rest) - 3
			}
			authority := rest[3 : 3+end]
			if at := strings.LastIndexByte(authority, '@'); at >= 0 {
				user, _, hasPassword := strings.Cut(authority[:at], ":")
				b.WriteString("://")
				if hasPassword {
					b.WriteString(user + ":" + redacted)
				} else if looksSecret(user) {
					b.WriteString(redacted)
				} else {
					b.WriteString(user)
				}
				b.WriteString(authority[at:])
				i += 3 + end
				continue
			}
		}
		if !wordByte(s[i]) || i > 0 && wordByte(s[i-1]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := i
		for end < len(s) && wordByte(s[end]) {
			end++
		}
		word := s[i:end]
		if looksSecret(word) {
			b.WriteString(redacted)
			i = end
			continue
		}
		b.WriteString(word)
		i = end
		if !namesSecret(word) {
			continue
		}
		// NAME=value, --name=value, --name value, "Name: value".
		sep := i
		switch {
		case sep < len(s) && (s[sep] == '=' || s[sep] == ':'):
			sep++
			for sep < len(s) && s[sep] == ' ' && s[sep-1] == ':' {
				sep++
			}
		case strings.HasPrefix(word, "--") && sep < len(s) && s[sep] == ' ':
			sep++
		default:
			continue
		}
		b.WriteString(s[i:sep])
		i = sep
		if i < len(s) && (s[i] == '"' || s[i] == '\'') {
			b.WriteByte(s[i])
			i++
		}
		for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "basic ", "token ", "Token "} {
			if strings.HasPrefix(s[i:], scheme) {
				b.WriteString(scheme)
				i += len(scheme)
				break
			}
		}
		value := i
		for value < len(s) && strings.IndexByte(" \t\r\n\"'`;|&<>)", s[value]) < 0 {
			value++
		}
		if value > i && !strings.HasPrefix(s[i:], "$") && !strings.HasPrefix(s[i:], redacted) {
			b.WriteString(redacted)
			i = value
		}
	}
	return b.String()
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

func looksSecret(word string) bool {
	for _, p := range tokenPrefixes {
		if strings.HasPrefix(word, p) && len(word) >= len(p)+12 {
			return true
		}
	}
	return false
}

func namesSecret(word string) bool {
	low := strings.ToLower(word)
	for _, n := range secretNames {
		if low == n || strings.HasSuffix(low, "_"+n) || strings.HasSuffix(low, "-"+n) || strings.HasPrefix(low, "--") && strings.HasSuffix(low, n) || strings.HasPrefix(low, n+"_") {
			return true
		}
	}
	return false
}
