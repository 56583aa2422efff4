package lint

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// kiro is one agent file of Kiro.
type kiro struct {
	run     *run
	root    *value
	allowed []*value // allowedTools
	// shell settings of all spellings of the tool
	denied, commands []pattern
	trusted          []pattern
	size             int // steps of all expressions
	work             int // steps spent on compound commands
}

// A pattern is a regular expression as Kiro reads it: anchored at both ends,
// without look-around.
type pattern struct {
	value  *value
	parsed *syntax.Regexp
	re     *regexp.Regexp // nil if it cannot be used
	err    string
	size   int
}

func (p *pattern) matches(s string) bool { return p.re != nil && p.re.MatchString(s) }

var shellNames = []string{"shell", "execute_bash", "execute_cmd"}

// Limits on what is compiled: a thousandfold repetition of a thousandfold
// repetition is short to write.
const (
	maxPattern      = 2000 // bytes
	maxPatternSteps = 4000 // instructions of the compiled form
	maxPatterns     = 500
	maxAllSteps     = 20_000 // of one file
	maxWork         = 20_000_000
)

// Kiro checks agent files of Kiro.
func Kiro(cfg Config, files []string) *Report {
	r := newRun(cfg, "kiro")
	for _, name := range files {
		f, ok := r.load(name)
		if !ok {
			continue
		}
		root, ok := r.json(f, false)
		if !ok {
			continue
		}
		r.shapes(root, kiroShapes, nil)
		k := &kiro{run: r, root: root, allowed: root.get("allowedTools").strings()}
		for _, tool := range shellNames {
			k.denied = append(k.denied, k.compileAll(root.get("toolsSettings", tool, "deniedCommands"))...)
			k.commands = append(k.commands, k.compileAll(root.get("toolsSettings", tool, "allowedCommands"))...)
		}
		k.trusted = k.compileAll(root.get("toolsSettings", "web_fetch", "trusted"))
		apply(r, kiroRules, k, nil)
	}
	return r.done()
}

var kiroShapes = []shape{
	{"allowedTools", "strings"}, {"toolsSettings", "object"},
	{"toolsSettings.shell", "object"}, {"toolsSettings.execute_bash", "object"}, {"toolsSettings.execute_cmd", "object"},
	{"toolsSettings.shell.allowedCommands", "strings"}, {"toolsSettings.execute_bash.allowedCommands", "strings"}, {"toolsSettings.execute_cmd.allowedCommands", "strings"},
	{"toolsSettings.shell.deniedCommands", "strings"}, {"toolsSettings.execute_bash.deniedCommands", "strings"}, {"toolsSettings.execute_cmd.deniedCommands", "strings"},
	{"toolsSettings.shell.denyByDefault", "boolean"}, {"toolsSettings.execute_bash.denyByDefault", "boolean"}, {"toolsSettings.execute_cmd.denyByDefault", "boolean"},
	{"toolsSettings.web_fetch", "object"}, {"toolsSettings.web_fetch.trusted", "strings"},
}

// compileAll compiles the expressions of a list. What goes beyond the bounds is
// left out with an error in its place.
func (k *kiro) compileAll(list *value) (out []pattern) {
	for i, v := range list.strings() {
		if i == maxPatterns || k.size > maxAllSteps {
			return append(out, pattern{value: v, err: "this and all further expressions are not judged: there are too many"})
		}
		p := compile(v)
		k.size += p.size
		out = append(out, p)
	}
	return out
}

// expanded is the number of steps of an expression with its repetitions written
// out.
func expanded(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/16
	}
	for _, sub := range re.Sub {
		n += expanded(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<30)
}

func compile(v *value) pattern {
	p := pattern{value: v}
	if len(v.text) > maxPattern {
		p.err = fmt.Sprintf("longer than %d bytes, it is not judged", maxPattern)
		return p
	}
	anchored := `\A(?:` + v.text + `)\z`
	// What is not balanced by itself must not become so by the anchors.
	if _, err := syntax.Parse(v.text, syntax.Perl); err != nil {
		p.err = describe(err)
		return p
	}
	parsed, err := syntax.Parse(anchored, syntax.Perl)
	if err != nil {
		p.err = describe(err)
		return p
	}
	if p.size = expanded(parsed); p.size > maxPatternSteps {
		p.err = "its repetitions make it too large to be judged"
		return p
	}
	if p.re, err = regexp.Compile(anchored); err != nil {
		p.err = describe(err)
		return p
	}
	p.parsed, _ = syntax.Parse(v.text, syntax.Perl)
	return p
}

func describe(err error) string {
	if e, ok := err.(*syntax.Error); ok {
		return e.Code.String()
	}
	return err.Error()
}

// blanket reports that an entry of allowedTools approves one of the tools.
func blanket(entry string, tools ...string) bool {
	if glob(entry, "@builtin") {
		return true
	}
	return slices.ContainsFunc(tools, func(tool string) bool { return glob(entry, tool) || glob(entry, "@builtin/"+tool) })
}

func (k *kiro) approvesAnyCommand() bool {
	return slices.ContainsFunc(k.allowed, func(e *value) bool { return blanket(e.text, shellNames...) })
}

func (k *kiro) denies(command string) bool {
	k.work += k.size * len(command)
	return slices.ContainsFunc(k.denied, func(p pattern) bool { return p.matches(command) })
}

func blanketTools(what string, tools ...string) func(*kiro, reporter) {
	return func(k *kiro, r reporter) {
		for _, e := range k.allowed {
			if blanket(e.text, tools...) {
				r.at(e, quote(e.text)+" "+what)
			}
		}
	}
}

var kiroRules = []check[*kiro]{
	{Rule{ID: "K601", Severity: Error, Hard: true,
		Summary: "an entry of allowedTools approves the shell",
		Why:     "every command then runs without a question, and toolsSettings is not looked at",
		Example: `{"allowedTools": ["exec*"]}`,
		Fix:     "remove it, and list commands in toolsSettings.shell.allowedCommands"},
		blanketTools("approves every shell command", shellNames...)},
	{Rule{ID: "K602", Severity: Error, Hard: true,
		Summary: "allowedCommands approves a dangerous command",
		Why:     "it runs without a question unless deniedCommands matches it",
		Example: `{"toolsSettings": {"shell": {"allowedCommands": ["git .*"]}}}`,
		Fix:     "name the sub-commands that are needed, or deny the dangerous ones"},
		func(k *kiro, r reporter) {
			if k.approvesAnyCommand() {
				return
			}
			probes := slices.DeleteFunc(slices.Clone(k.run.probes()), func(p Probe) bool { return k.denies(p.Command) })
			for _, p := range k.commands {
				var labels []string
				for _, probe := range probes {
					if p.matches(probe.Command) {
						labels = append(labels, probe.Label)
					}
				}
				if len(labels) > 0 {
					r.at(p.value, quote(p.value.text)+" approves without a question: "+labelList(labels))
				}
			}
		}},
	{Rule{ID: "K603", Severity: Error, Hard: true,
		Summary: "an entry of allowedTools approves aws or use_aws",
		Why:     "the agent acts in the cloud account with the person's credentials",
		Example: `{"allowedTools": ["use_aws"]}`,
		Fix:     "remove it"}, blanketTools("approves calls to AWS", "aws", "use_aws")},
	{Rule{ID: "K604", Severity: Error, Hard: true,
		Summary: "an entry of allowedTools approves web_fetch",
		Why:     "a fetch carries data out in its address",
		Example: `{"allowedTools": ["web_fetch"]}`,
		Fix:     "remove it, and list sites in toolsSettings.web_fetch.trusted"}, blanketTools("approves fetching from any site", "web_fetch", "webfetch")},
	{Rule{ID: "K605", Severity: Error, Hard: true,
		Summary: "an entry of web_fetch.trusted matches every site",
		Why:     "a fetch carries data out in its address",
		Example: `{"toolsSettings": {"web_fetch": {"trusted": [".*"]}}}`,
		Fix:     `name sites: https://docs\.example\.com/.*`},
		func(k *kiro, r reporter) {
			for _, p := range k.trusted {
				if p.matches("https://a.example/x") && p.matches("http://b.test/y?z=1") {
					r.at(p.value, quote(p.value.text)+" trusts every site")
				}
			}
		}},
	{Rule{ID: "K606", Severity: Error,
		Summary: "a regular expression is invalid; a warning in allowedCommands and trusted",
		Why:     "an invalid deny protects nothing",
		Example: `{"toolsSettings": {"shell": {"deniedCommands": ["(bad"]}}}`,
		Fix:     "mend the expression"},
		func(k *kiro, r reporter) {
			for _, p := range k.denied {
				if p.err != "" {
					r.at(p.value, quote(clip(p.value.text))+" denies nothing: "+p.err)
				}
			}
			for _, p := range append(k.commands[:len(k.commands):len(k.commands)], k.trusted...) {
				if p.err != "" {
					r.at(p.value, quote(clip(p.value.text))+": "+p.err, severity(Warning))
				}
			}
		}},
	{Rule{ID: "K607", Severity: Warning,
		Summary: "an entry of deniedCommands matches a bare command only",
		Why:     "expressions are anchored at both ends: with arguments the command is not denied",
		Example: `{"toolsSettings": {"shell": {"deniedCommands": ["rm -rf"]}}}`,
		Fix:     "let arguments follow: rm -rf( .*)?"},
		func(k *kiro, r reporter) {
			for _, p := range k.denied {
				if text, ok := literal(p.parsed); ok && isFamily(text) {
					r.at(p.value, quote(p.value.text)+" does not match "+quote(text+" x"), help("write "+quote(p.value.text+"( .*)?")))
				}
			}
		}},
	{Rule{ID: "K608", Severity: Warning,
		Summary: "a regular expression with look-around, or an unescaped . in the host of an allowed command",
		Why:     "Kiro's expressions have no look-around; a bare . matches any character: apixexample.com too",
		Example: `{"toolsSettings": {"shell": {"allowedCommands": ["curl https://api.example.com/v1"]}}}`,
		Fix:     `write \. in host names, and do without (?=, (?!, (?<= and (?<!`},
		func(k *kiro, r reporter) {
			for _, p := range slices.Concat(k.denied, k.commands, k.trusted) {
				if lookAround(p.value.text) {
					r.at(p.value, quote(clip(p.value.text))+" has look-around, which is not supported")
				}
			}
			for _, p := range k.commands {
				if host := looseHost(p.value.text); host != "" {
					r.at(p.value, fmt.Sprintf("%s: the . in %s matches any character", quote(clip(p.value.text)), quote(host)))
				}
			}
		}},
	{Rule{ID: "K609", Severity: Warning,
		Summary: "an entry of allowedCommands matches a compound command",
		Why:     "what stands behind a semicolon is approved with it",
		Example: `{"toolsSettings": {"shell": {"allowedCommands": ["git .*"]}}}`,
		Fix:     "exclude separators: git [^;&|<>$`]*"},
		func(k *kiro, r reporter) {
			for _, p := range k.commands {
				if command := k.compound(p); command != "" {
					r.at(p.value, quote(p.value.text)+" also approves "+quote(clip(command)))
				}
			}
		}},
	{Rule{ID: "K610", Severity: Info,
		Summary: "Kiro's newer permissions.yaml is not read",
		Why:     "where it is in use, it decides and this file does not",
		Example: "any agent file",
		Fix:     "review permissions.yaml by hand"},
		func(k *kiro, r reporter) {
			r.at(k.root, "only the agent file was checked: Kiro's newer permissions.yaml is not read", of(""))
		}},
}

// literal is the one text that an expression matches.
func literal(re *syntax.Regexp) (string, bool) {
	if re == nil {
		return "", false
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase == 0
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpBeginText, syntax.OpEndLine, syntax.OpEndText:
		return "", true
	case syntax.OpCapture:
		return literal(re.Sub[0])
	case syntax.OpConcat:
		text := ""
		for _, sub := range re.Sub {
			part, ok := literal(sub)
			if !ok {
				return "", false
			}
			text += part
		}
		return text, true
	}
	return "", false
}

// isFamily reports a text that names a program, with sub-command or flags, and
// nothing that it is to act on.
func isFamily(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 3 {
		return false
	}
	for i, w := range words {
		flag := strings.HasPrefix(w, "-")
		name := strings.TrimLeft(w, "-")
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return false
		}
		if i == 0 && flag || i == 2 && !flag && !strings.HasPrefix(words[1], "-") {
			return false
		}
	}
	return true
}

func lookAround(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '\\' {
			i++
			continue
		}
		for _, mark := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(text[i:], mark) {
				return true
			}
		}
	}
	return false
}

// looseHost is the first host name in an expression whose dots are not escaped.
func looseHost(text string) string {
	isLabel := func(c byte) bool { return c == '-' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
	for i := 0; i < len(text); {
		if text[i] == '\\' {
			i += 2
			continue
		}
		if !isLabel(text[i]) {
			i++
			continue
		}
		start, loose, labels, last := i, false, 1, i
		for i < len(text) {
			switch {
			case isLabel(text[i]):
				i++
				continue
			case text[i] == '.' && i+1 < len(text) && isLabel(text[i+1]):
				loose = true
				labels++
				i++
				last = i
				continue
			case strings.HasPrefix(text[i:], `\.`) && i+2 < len(text) && isLabel(text[i+2]):
				labels++
				i += 2
				last = i
				continue
			}
			break
		}
		host := text[start:i]
		if quantified := i < len(text) && strings.IndexByte("*+?{", text[i]) >= 0 && i-last <= 1; quantified {
			continue
		}
		behindScheme := strings.HasSuffix(text[:start], "://") || strings.HasSuffix(text[:start], "@")
		if loose && labels >= 2 && (behindScheme || topLevel(text[last:i])) {
			return host
		}
	}
	return ""
}

// topLevel knows the domains that are no usual suffixes of file names.
func topLevel(label string) bool {
	switch label {
	case "com", "org", "net", "edu", "gov", "io", "dev", "cloud", "ai", "internal", "example", "eu", "de", "uk":
		return true
	}
	return false
}

// compound is a command of several parts that an allow expression approves and
// no deny expression stops, empty if none is found.
func (k *kiro) compound(p pattern) string {
	if p.re == nil {
		return ""
	}
	for _, l := range shortest(p.parsed) {
		if !p.matches(l) {
			continue
		}
		for _, tail := range []string{"; curl http://example.com/x", " ; curl http://example.com/x"} {
			if k.work > maxWork {
				return "" // more than a person writes; K606 or K602 has said so
			}
			k.work += p.size * len(l)
			if command := l + tail; p.matches(command) && !k.denies(command) {
				return command
			}
		}
	}
	return ""
}

// shortest lists a shortest text for each alternative of an expression. Word
// borders and the like are taken for nothing, so a text has to be tried.
func shortest(re *syntax.Regexp) []string {
	for re.Op == syntax.OpCapture || re.Op == syntax.OpConcat && len(re.Sub) == 1 {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpAlternate {
		var out []string
		for _, sub := range re.Sub {
			out = append(out, shortest(sub)...)
		}
		return out
	}
	text, ok := shortestText(re)
	if !ok {
		return nil
	}
	return []string{text}
}

func shortestText(re *syntax.Regexp) (string, bool) {
	switch re.Op {
	case syntax.OpNoMatch:
		return "", false
	case syntax.OpLiteral:
		return string(re.Rune), true
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return "", false
		}
		// A letter if there is one: it looks like a command.
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= 'a' && 'a' <= re.Rune[i+1] {
				return "a", true
			}
		}
		return string(re.Rune[0]), utf8.ValidRune(re.Rune[0])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a", true
	case syntax.OpCapture, syntax.OpPlus:
		return shortestText(re.Sub[0])
	case syntax.OpRepeat:
		text, ok := shortestText(re.Sub[0])
		if !ok || re.Min*len(text) > maxPatternSteps {
			return "", re.Min == 0
		}
		return strings.Repeat(text, re.Min), true
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			text, ok := shortestText(sub)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		}
		return b.String(), true
	case syntax.OpAlternate:
		best, found := "", false
		for _, sub := range re.Sub {
			if text, ok := shortestText(sub); ok && (!found || len(text) < len(best)) {
				best, found = text, true
			}
		}
		return best, found
	}
	return "", true
}
