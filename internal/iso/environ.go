package iso

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Kept are the variables that every CLI gets when they are set and not empty.
var Kept = []string{
	"HOME", "PATH", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME", "PWD",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK",
}

// keptWindows are what a Windows program cannot start or find its files
// without; none of them holds a secret.
var keptWindows = []string{
	"ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMSPEC",
	"HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
	"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
}

// AllowVariables hold names to keep for one start, separated by blanks or commas.
var AllowVariables = []string{"CLAUDE_ISO_ALLOW", "AGENT_ISO_ALLOW"}

// An Allowed is one entry of an allow list and where it stands.
type Allowed struct {
	Pattern string // a name, or PREFIX_*
	Source  string // variable or file
	File    bool   // Source is the configuration file
}

func (a Allowed) glob() bool { return strings.HasSuffix(a.Pattern, "*") }

func (a Allowed) matches(name string) bool {
	if a.glob() {
		return strings.HasPrefix(fold(name), fold(strings.TrimSuffix(a.Pattern, "*")))
	}
	return fold(name) == fold(a.Pattern)
}

// fold makes names comparable where the system ignores their case.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// An Environment is what a CLI is given of its parent's environment.
type Environment struct {
	// Vars are the entries kept, byte for byte and in their order.
	Vars []string
	// Kept and Dropped are their names and those of the rest, sorted.
	Kept, Dropped []string
	// Unset are the names that were allowed and are not set.
	Unset []string
	// Credentials are names that the configuration file passes on every start
	// and that look like credentials; Userinfo are names of which only the
	// value does: an address with a user name and a password in it.
	Credentials, Userinfo []string
}

// filter keeps of environ what is on the list or allowed. dir is the working
// directory: PWD is kept only if it names that.
func filter(environ []string, allowed []Allowed, dir string) Environment {
	var env Environment
	fromFile := map[string]bool{}
	set := map[string]bool{}
	for _, entry := range environ {
		name, value, ok := cutEntry(entry)
		if !ok {
			continue
		}
		set[fold(name)] = true
		keep := value != "" && onList(name)
		for _, a := range allowed {
			if a.matches(name) {
				keep = true
				fromFile[name] = fromFile[name] || a.File
			}
		}
		if fold(name) == "PWD" && !names(value, dir) {
			keep = false
		}
		if keep {
			env.Vars = append(env.Vars, entry)
			env.Kept = append(env.Kept, name)
			if fromFile[name] && hasUserinfo(value) {
				env.Userinfo = append(env.Userinfo, name)
			}
		} else {
			env.Dropped = append(env.Dropped, name)
		}
	}
	for _, a := range allowed {
		if !a.glob() && !set[fold(a.Pattern)] {
			env.Unset = append(env.Unset, a.Pattern)
		}
		if a.File && looksLikeCredential(strings.TrimSuffix(a.Pattern, "*")) {
			env.Credentials = append(env.Credentials, a.Pattern)
		}
	}
	for name := range fromFile {
		if fromFile[name] && looksLikeCredential(name) && !slices.ContainsFunc(env.Credentials, func(p string) bool { return Allowed{Pattern: p}.matches(name) }) {
			env.Credentials = append(env.Credentials, name)
		}
	}
	for _, list := range []*[]string{&env.Kept, &env.Dropped, &env.Unset, &env.Credentials, &env.Userinfo} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return env
}

// cutEntry splits an entry of an environment. Windows keeps a directory a
// drive in entries that begin with "=".
func cutEntry(entry string) (name, value string, ok bool) {
	i := strings.IndexByte(entry[min(1, len(entry)):], '=')
	if i < 0 {
		return "", "", false
	}
	return entry[:i+1], entry[i+2:], true
}

func onList(name string) bool {
	if slices.Contains(Kept, fold(name)) {
		return true
	}
	return runtime.GOOS == "windows" && (slices.Contains(keptWindows, fold(name)) || strings.HasPrefix(name, "="))
}

// names reports whether the absolute path pwd is the directory dir.
func names(pwd, dir string) bool {
	if !filepath.IsAbs(pwd) {
		return false
	}
	if dir == "" {
		dir = "."
	}
	a, err := os.Stat(pwd)
	if err != nil {
		return false
	}
	b, err := os.Stat(dir)
	return err == nil && os.SameFile(a, b)
}

// lookup finds a variable in an environment; the last one counts, as in
// [cli.Process].
func lookup(environ []string, name string) string {
	value, _ := lookupSet(environ, name)
	return value
}

// lookupSet is lookup that tells an empty variable from none.
func lookupSet(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if k, v, ok := cutEntry(environ[i]); ok && fold(k) == fold(name) {
			return v, true
		}
	}
	return "", false
}

// allowedByEnvironment reads the allow variables. bad are the words in them
// that are not names of variables.
func allowedByEnvironment(environ []string) (allowed []Allowed, bad []Allowed) {
	for _, variable := range AllowVariables {
		for _, word := range strings.FieldsFunc(lookup(environ, variable), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
			a := Allowed{Pattern: word, Source: variable}
			if isName(word) {
				allowed = append(allowed, a)
			} else {
				bad = append(bad, a)
			}
		}
	}
	return allowed, bad
}

// isName reports whether s can be the name of a variable that a shell can set.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case c >= '0' && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return s != ""
}

// credentialWords are the parts of a variable's name that give a secret away.
var credentialWords = []string{
	"*TOKEN", "*TOKENS", "*SECRET", "*SECRETS", "*PASSWORD", "*PASSWORDS", "*PASSWD", "*PASSPHRASE", "*PASSCODE",
	"*APIKEY", "*APIKEYS", "*ACCESSKEY", "*SECRETKEY", "*PRIVATEKEY", "*CREDENTIAL", "*CREDENTIALS", "*CREDS",
	"PASS", "PWD", "PW", "PAT", "KEY", "KEYS", "AUTH", "AUTHORIZATION", "OAUTH", "BEARER", "JWT", "COOKIE", "COOKIES",
	"SESSION", "DSN", "SAS", "OTP", "TOTP", "PIN", "CERT", "PEM", "P12", "PFX", "NETRC", "KUBECONFIG", "WEBHOOK", "CONNECTIONSTRING", "LICENSE",
}

// notSecret are names that hold a telling word and no secret.
var notSecret = []string{"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XDG_SESSION_*", "DESKTOP_SESSION", "SSL_CERT_FILE", "SSL_CERT_DIR", "*_CA_CERT", "*_CA_CERTS", "*_SESSION_TYPE", "XAUTHORITY", "COLORTERM"}

// looksLikeCredential reports whether a variable of that name, or with that
// prefix, is likely to hold a secret.
func looksLikeCredential(name string) bool {
	name = strings.ToUpper(strings.Trim(name, "_"))
	for _, p := range notSecret {
		if ok, _ := path.Match(p, name); ok {
			return false
		}
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	if strings.HasSuffix(name, "CONNECTION_STRING") || strings.HasSuffix(name, "DATABASE_URL") || strings.HasSuffix(name, "_DB_URL") {
		return true
	}
	for _, part := range parts {
		part = strings.TrimRight(part, "0123456789")
		for _, w := range credentialWords {
			if ok, _ := path.Match(w, part); ok {
				return true
			}
		}
	}
	return false
}

// hasUserinfo reports whether value is an address with a password in it, such
// as a proxy's.
func hasUserinfo(value string) bool {
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return false
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	user, _, ok := strings.Cut(rest, "@")
	return ok && strings.Contains(user, ":")
}
