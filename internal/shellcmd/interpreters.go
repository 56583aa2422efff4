package shellcmd

import (
	"slices"
	"strings"
)

// A language says which calls of a script language start programs. The code is
// not parsed: calls with literal arguments are found by name, outside strings
// and comments.
type language struct {
	name     string
	programs string // names of the interpreter, blank separated; versions may follow
	evalOpts string // short options whose value is code
	longEval string
	valOpts  string // short options with some other value
	comment  string
	ticks    bool // `…` runs a command
	calls    []codeCall
}

// A codeCall is a function that takes a command line or the words of one.
type codeCall struct {
	name string // last name of the call
	kind callKind
	// within must occur in the code for names that other things have as well.
	within string
}

type callKind int

const (
	callShell    callKind = iota // one string for a shell; a list is argv
	callArgs                     // argv as separate strings
	callFile                     // program, then a list of arguments
	callTree                     // deletes a tree; the argument is the path
	callTreeIf                   // deletes a tree if an option says recursive
	callTwoParts                 // mode and command: open(F, "cmd|")
	callSpawn                    // a mode, the program, then argv
	callPrint                    // prints the arguments as a line
)

// languages is read only.
var languages = []language{
	{name: "python", programs: "python pypy", evalOpts: "c", valOpts: "WXQm", comment: "#", calls: []codeCall{
		{"system", callShell, ""}, {"popen", callShell, ""}, {"getoutput", callShell, ""}, {"getstatusoutput", callShell, ""},
		{"run", callShell, "subprocess"}, {"call", callShell, "subprocess"}, {"check_call", callShell, ""}, {"check_output", callShell, ""},
		{"Popen", callShell, ""}, {"create_subprocess_shell", callShell, ""}, {"create_subprocess_exec", callArgs, ""},
		{"execl", callSpawn, ""}, {"execlp", callSpawn, ""}, {"execv", callFile, ""}, {"execvp", callFile, ""}, {"execve", callFile, ""}, {"execvpe", callFile, ""},
		{"spawnl", callSpawn, ""}, {"spawnlp", callSpawn, ""}, {"spawnv", callFile, ""}, {"spawnvp", callFile, ""}, {"spawnve", callFile, ""}, {"spawnvpe", callFile, ""}, {"spawn", callShell, "pty"}, {"posix_spawn", callFile, ""}, {"posix_spawnp", callFile, ""},
		{"rmtree", callTree, ""}, {"print", callPrint, ""}, {"write", callPrint, "stdout"},
	}},
	{name: "perl", programs: "perl", evalOpts: "eE", valOpts: "IMmCDFiVx0l", comment: "#", ticks: true, calls: []codeCall{
		{"system", callShell, ""}, {"exec", callShell, ""}, {"qx", callShell, ""}, {"readpipe", callShell, ""}, {"open", callTwoParts, ""}, {"capture", callShell, "IPC"},
		{"rmtree", callTree, ""}, {"remove_tree", callTree, ""}, {"print", callPrint, ""}, {"say", callPrint, ""},
	}},
	{name: "ruby", programs: "ruby jruby", evalOpts: "e", valOpts: "ICEFKrTWx", comment: "#", ticks: true, calls: []codeCall{
		{"system", callShell, ""}, {"exec", callShell, ""}, {"spawn", callShell, ""}, {"popen", callShell, ""}, {"popen2", callShell, ""}, {"popen2e", callShell, ""}, {"popen3", callShell, ""},
		{"capture2", callShell, ""}, {"capture2e", callShell, ""}, {"capture3", callShell, ""}, {"%x", callShell, ""}, {"sh", callShell, "rake"}, {"puts", callPrint, ""}, {"print", callPrint, ""},
		{"rm_rf", callTree, ""}, {"rm_r", callTree, ""}, {"rmtree", callTree, ""}, {"remove_dir", callTree, ""}, {"remove_entry", callTree, ""}, {"remove_entry_secure", callTree, ""}, {"safe_unlink", callTree, ""},
	}},
	{name: "node", programs: "node nodejs deno bun tsx ts-node", evalOpts: "ep", longEval: "eval print", valOpts: "rC", comment: "//", calls: []codeCall{
		{"exec", callShell, "child_process"}, {"execSync", callShell, ""}, {"spawn", callFile, ""}, {"spawnSync", callFile, ""}, {"execFile", callFile, ""}, {"execFileSync", callFile, ""},
		{"execa", callFile, ""}, {"execaCommand", callShell, ""}, {"$", callShell, "zx"}, {"Command", callFile, "Deno"}, {"log", callPrint, "console"}, {"write", callPrint, "stdout"},
		{"rmSync", callTreeIf, ""}, {"rm", callTreeIf, ""}, {"rmdirSync", callTreeIf, ""}, {"rmdir", callTreeIf, ""}, {"removeSync", callTree, ""}, {"rimraf", callTree, ""}, {"rimrafSync", callTree, ""}, {"remove", callTree, "fs-extra"}, {"removeSync", callTreeIf, "Deno"},
	}},
	{name: "php", programs: "php", evalOpts: "rBRE", valOpts: "dczfStg", comment: "#", ticks: true, calls: []codeCall{
		{"system", callShell, ""}, {"exec", callShell, ""}, {"shell_exec", callShell, ""}, {"passthru", callShell, ""}, {"popen", callShell, ""}, {"proc_open", callShell, ""}, {"echo", callPrint, ""},
	}},
	{name: "lua", programs: "lua luajit", evalOpts: "e", valOpts: "l", comment: "--", calls: []codeCall{
		{"execute", callShell, ""}, {"popen", callShell, ""},
	}},
	{name: "osascript", programs: "osascript", evalOpts: "e", valOpts: "ls", comment: "--", calls: []codeCall{
		{"do shell script", callShell, ""},
	}},
	{name: "awk", programs: "awk gawk mawk nawk original-awk", valOpts: "vFfielLE", comment: "#", calls: []codeCall{
		{"system", callShell, ""}, {"print", callPrint, ""}, {"printf", callPrint, ""},
	}},
	{name: "octave", programs: "octave octave-cli matlab", evalOpts: "r", longEval: "eval batch", valOpts: "p", comment: "%", calls: []codeCall{
		{"system", callShell, ""}, {"unix", callShell, ""}, {"dos", callShell, ""}, {"shell_cmd", callShell, ""}, {"popen", callShell, ""}, {"rmdir", callTree, ""},
	}},
	{name: "julia", programs: "julia", evalOpts: "eE", longEval: "eval print", valOpts: "LJCtpgOi", comment: "#", ticks: true, calls: []codeCall{
		{"rm", callTreeIf, ""},
	}},
	{name: "elixir", programs: "elixir iex", evalOpts: "e", longEval: "eval rpc-eval", valOpts: "rSpz", comment: "#", calls: []codeCall{
		{"cmd", callFile, "System"}, {"shell", callShell, "System"}, {"cmd", callShell, ":os"}, {"rm_rf", callTree, ""}, {"rm_rf!", callTree, ""},
	}},
	{name: "r", programs: "Rscript r", evalOpts: "e", comment: "#", calls: []codeCall{
		{"system", callShell, ""}, {"system2", callFile, ""}, {"shell", callShell, ""}, {"unlink", callTreeIf, ""},
	}},
	{name: "tcl", programs: "tclsh expect wish", evalOpts: "c", comment: "#", calls: []codeCall{
		{"spawn", callShell, ""}, {"exec", callShell, ""},
	}},
}

// interpreterFor finds the language of a program; python3.12 is python.
func interpreterFor(name string) *language {
	base := strings.TrimRight(name, "0123456789.")
	for i := range languages {
		if listed(languages[i].programs, name) || base != name && listed(languages[i].programs, base) {
			return &languages[i]
		}
	}
	return nil
}

// runInterpreter finds the code that an interpreter is given.
func (w *walker) runInterpreter(sh *shell, inv *invocation, cmd *Command, l *language) {
	args := inv.args[1:]
	if l.name == "awk" {
		w.runAwk(sh, inv, l, args)
		sh.out.unknown(cmd)
		return
	}
	wr := wrapper{name: l.name, short: l.evalOpts + l.valOpts, long: l.longEval}
	// Options of these may take an attached value only; a flag before e, as in
	// perl -ne, makes a cluster, which options handles.
	var code []string
	if (l.name == "node") && len(args) > 0 && (args[0].raw == "eval" || args[0].raw == "run") {
		if args[0].raw == "eval" && len(args) > 1 {
			code = append(code, w.literal(args[len(args)-1].raw))
		}
		args = args[1:]
	}
	if l.name == "perl" || l.name == "ruby" {
		wr.short = l.evalOpts + strings.Trim(l.valOpts, "0lixDCV")
	}
	opts, rest := wr.options(args)
	for _, o := range opts {
		if o.has && (len(o.name) == 1 && strings.Contains(l.evalOpts, o.name) || l.longEval != "" && listed(l.longEval, o.name)) {
			code = append(code, w.literal(o.value.raw))
		}
		if o.name == "m" && l.name == "python" {
			sh.out.unknown(cmd)
			return // a module, its arguments are its own
		}
	}
	if len(code) > 0 {
		printsAll := w.runCode(sh, inv, l, strings.Join(code, "\n"), l.name+" -"+l.evalOpts[:1])
		if !printsAll || len(opts) > 1 {
			sh.out.unknown(cmd) // perl -n runs it for each line
		}
		return
	}
	if len(rest) == 0 || rest[0].raw == "-" {
		if sh.in != nil {
			in, left := sh.in, otherMark
			sh.in = &left
			w.runCode(sh, inv, l, *in, l.name)
			sh.in = in
		}
		sh.out.unknown(cmd)
		return
	}
	for _, text := range w.scripts(sh, rest[0].raw) {
		w.runCode(sh, inv, l, text, l.name+" script")
	}
	sh.out.unknown(cmd)
}

// runAwk finds the program text of awk: the first operand, or that of -f.
func (w *walker) runAwk(sh *shell, inv *invocation, l *language, args []Word) {
	wr := wrapper{name: "awk", short: l.valOpts, long: "assign field-separator file source include load exec"}
	opts, rest := wr.options(args)
	hasFile := false
	for _, o := range opts {
		switch {
		case !o.has:
		case o.name == "f" || o.name == "file" || o.name == "E":
			hasFile = true
			for _, text := range w.scripts(sh, o.value.raw) {
				w.runCode(sh, inv, l, text, "awk -f")
			}
		case o.name == "e" || o.name == "source":
			hasFile = true
			w.runCode(sh, inv, l, w.literal(o.value.raw), "awk")
		}
	}
	if !hasFile && len(rest) > 0 {
		text := w.literal(rest[0].raw)
		w.runCode(sh, inv, l, text, "awk")
		w.awkPipes(sh, inv, text)
	}
}

// awkPipes finds "cmd" | getline and print … | "cmd".
func (w *walker) awkPipes(sh *shell, inv *invocation, code string) {
	for i := 0; i < len(code); i++ {
		if code[i] != '"' {
			continue
		}
		s, n, ok := stringLiteral(code[i:], false)
		if !ok {
			return
		}
		before := strings.TrimRight(code[:i], " \t")
		after := strings.TrimLeft(code[i+n:], " \t")
		if strings.HasSuffix(before, "|") && !strings.HasSuffix(before, "||") || strings.HasPrefix(after, "|") && !strings.HasPrefix(after, "||") {
			w.nestString(sh, inv, w.word(s), nesting{layer: "awk |"})
		}
		i += n - 1
	}
}

const maxCodeCalls = 1000

// runCode finds the calls in code that start programs. It reports whether all
// that the code prints is known.
func (w *walker) runCode(sh *shell, inv *invocation, l *language, code, layer string) (printsAll bool) {
	if !w.spend(len(code)) {
		return false
	}
	s := &codeScanner{w: w, sh: sh, inv: inv, l: l, code: code, layer: layer, vars: map[string]string{}, lists: map[string][]string{}}
	s.scan()
	return s.printsAll
}

type codeScanner struct {
	w           *walker
	sh          *shell
	inv         *invocation
	l           *language
	code        string
	layer       string
	vars        map[string]string   // names that were given one literal
	lists       map[string][]string // names that were given a list of them
	calls       int
	printsAll   bool // the code is one call that prints text
	openComment bool // a comment that does not end was seen
}

func (s *codeScanner) scan() {
	code := s.code
	for i := 0; i < len(code); {
		c := code[i]
		if n := s.quoteLike(i); n > 0 {
			i += n
			continue
		}
		switch {
		case strings.HasPrefix(code[i:], s.l.comment) && !(s.l.name == "perl" && i > 0 && code[i-1] == '$'):
			end := strings.IndexByte(code[i:], '\n')
			if end < 0 {
				return
			}
			i += end
		case c == '`' && s.l.ticks:
			end := strings.IndexByte(code[i+1:], '`')
			if end < 0 {
				return
			}
			s.shellText(code[i+1:i+1+end], "`…`")
			i += end + 2
		case c == '"' || c == '\'' || c == '`':
			_, n, ok := stringLiteral(code[i:], s.l.name == "python")
			if !ok {
				i++
				continue
			}
			i += n
		case isNameStart(c) || c == '%' && strings.HasPrefix(code[i:], "%x"):
			j := i + 1
			for j < len(code) && (isWordByte(code[j]) || code[j] == '$') {
				j++
			}
			if s.l.name == "osascript" && strings.HasPrefix(code[i:], "do shell script") {
				j = i + len("do shell script")
			}
			i = s.name(i, j)
		default:
			i++
		}
		if s.calls > maxCodeCalls {
			s.w.line.Limited = true
			return
		}
	}
}

func isNameStart(c byte) bool { return isWordByte(c) && (c < '0' || c > '9') || c == '$' }

// name looks at an identifier; it returns where to go on.
func (s *codeScanner) name(i, j int) int {
	id := s.code[i:j]
	k := skipSpace(s.code, j)
	// x = "literal"
	if k < len(s.code) && s.code[k] == '=' && (k+1 == len(s.code) || s.code[k+1] != '=') {
		v := skipSpace(s.code, k+1)
		if a, n, ok := s.assigned(v); ok {
			if a.isList {
				s.lists[id] = a.list
			} else {
				s.vars[id] = a.text
			}
			return n
		}
		return j
	}
	if list, ok := s.lists[id]; ok {
		if n := s.grow(id, list, j, k); n > j {
			return n
		}
	}
	for _, c := range s.l.calls {
		if c.name != id || c.within != "" && !strings.Contains(s.code, c.within) {
			continue
		}
		if s.l.name == "perl" && i > 0 && (s.code[i-1] == '$' || s.code[i-1] == '@' || s.code[i-1] == '%') {
			return j
		}
		s.call(c, j)
		break
	}
	// Prefixes of string literals (r"…", f'…') belong to the string.
	if s.l.name == "python" && j < len(s.code) && (s.code[j] == '"' || s.code[j] == '\'') && j-i <= 2 {
		if _, n, ok := stringLiteral(s.code[j:], true); ok {
			return j + n
		}
	}
	return j
}

// assigned reads the value of an assignment: a literal or a list of them.
func (s *codeScanner) assigned(i int) (codeArg, int, bool) {
	if i >= len(s.code) || !s.w.spend(8) {
		return codeArg{}, i, false
	}
	code := s.code[:min(len(s.code), i+maxCallLength)]
	if _, _, ok := s.literal(i); !ok && code[i] != '[' && (code[i] != '(' || s.l.name != "perl") && !strings.HasPrefix(code[i:], "%w") && !strings.HasPrefix(code[i:], "qw") && !strings.HasPrefix(code[i:], "shlex.split(") {
		return codeArg{}, i, false
	}
	if code[i] == '(' {
		a, next := s.listArgument(code, i)
		return a, next, a.known && a.isList
	}
	a, next := s.argument(code, i)
	return a, next, a.known
}

// grow follows what adds to a list: x += […], x.append(…), x.push(…). It
// returns where to go on.
func (s *codeScanner) grow(id string, list []string, j, k int) int {
	if len(list) >= maxFields || !s.w.spend(len(list)) {
		return j
	}
	rest := s.code[k:]
	switch {
	case strings.HasPrefix(rest, "+=") || strings.HasPrefix(rest, "<<"):
		if a, next, ok := s.assigned(skipSpace(s.code, k+2)); ok {
			s.lists[id] = append(slices.Clip(list), a.words()...)
			return next
		}
	case strings.HasPrefix(rest, ".append(") || strings.HasPrefix(rest, ".push(") || strings.HasPrefix(rest, ".extend(") || strings.HasPrefix(rest, ".concat("):
		args, _ := s.arguments(k+strings.IndexByte(rest, '(')+1, ')')
		for _, a := range args {
			if !a.known {
				a.text = s.w.mark(Part{Kind: Other})
			}
			s.lists[id] = append(slices.Clip(s.lists[id]), a.words()...)
		}
	}
	return j
}

func (a codeArg) words() []string {
	if a.isList {
		return a.list
	}
	return []string{a.text}
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// An argument of a call: a string, or a list of strings.
type codeArg struct {
	text   string
	list   []string
	isList bool
	known  bool
}

// call reads the arguments behind a name and runs what they say.
func (s *codeScanner) call(c codeCall, j int) {
	s.calls++
	code := s.code
	i := skipSpace(code, j)
	var args []codeArg
	raw, start := "", i
	switch {
	case s.l.name == "tcl":
		// Tcl's words need no quotes; a command ends with the line.
		if end := strings.IndexAny(code[i:min(len(code), i+maxCallLength)], "\n;}]"); end >= 0 {
			code = code[:i+end]
		}
		if s.w.spend(len(code) - i) {
			s.shellText(code[i:], c.name)
		}
		return
	case (c.name == "qx" || c.name == "%x") && i < len(code):
		text, _, ok := delimited(code[i:])
		if !ok {
			return
		}
		args = []codeArg{{text: text, known: true}}
	case i < len(code) && code[i] == '(':
		start = i + 1
		args, raw = s.arguments(start, ')')
	case i < len(code) && (code[i] == '"' || code[i] == '\'' || strings.HasPrefix(code[i:], "qw") || strings.HasPrefix(code[i:], "q(") || strings.HasPrefix(code[i:], "q{") || strings.HasPrefix(code[i:], "qq") || isNameStart(code[i]) && s.l.name != "node" && s.l.name != "python" || strings.HasPrefix(code[i:], "%w") || code[i] == '`' && s.l.name == "node"):
		// Perl, Ruby and Lua call without parentheses.
		args, raw = s.arguments(i, ';')
	default:
		return
	}
	// Keyword arguments and options do not count as words.
	if (c.kind == callTwoParts || s.l.name == "python" && (strings.HasPrefix(c.name, "spawnl") || strings.HasPrefix(c.name, "spawnv"))) && len(args) > 1 {
		args = args[1:] // the handle, or the mode
	}
	var words []string
	known := len(args) > 0
	for n, a := range args {
		if !a.known {
			known = known && n > 0
			break
		}
		if a.isList {
			words = append(words, a.list...)
		} else {
			words = append(words, a.text)
		}
	}
	if !known || len(words) == 0 {
		return
	}
	name := s.layer + ": " + c.name
	switch c.kind {
	case callPrint:
		after := code[min(start+len(raw), len(code)):]
		s.printsAll = strings.TrimSpace(code[:j-len(c.name)]) == "" && strings.Trim(after, ") ;\n\t}") == "" && args[len(args)-1].known
		s.sh.out.add(strings.TrimSuffix(strings.Join(words, " "), "\n") + "\n")
	case callShell:
		if args[0].isList || len(words) > 1 && s.l.name != "python" && s.l.name != "node" && s.l.name != "php" && s.l.name != "lua" {
			s.argv(words, name)
			return
		}
		s.shellText(words[0], c.name)
	case callArgs:
		s.argv(words, name)
	case callFile:
		if len(args) == 1 && !args[0].isList && strings.ContainsAny(words[0], " \t") && strings.Contains(raw, "shell") {
			s.shellText(words[0], c.name)
			return
		}
		if len(args) > 1 && args[1].isList && s.l.name == "python" {
			s.argv(args[1].list, name) // argv[0] stands in the list
			return
		}
		s.argv(words, name)
	case callSpawn:
		if len(words) > 1 {
			s.argv(words[1:], name)
		}
	case callTree, callTreeIf:
		if c.kind == callTreeIf && !strings.Contains(raw, "recursive") {
			return
		}
		paths := words
		if s.l.name != "perl" && s.l.name != "ruby" {
			paths = words[:1]
		}
		s.argv(append([]string{"rm", "-rf", "--"}, paths...), name)
	case callTwoParts:
		for n, t := range words {
			t = strings.TrimSpace(t)
			switch {
			case (t == "-|" || t == "|-") && n+1 < len(words):
				if n+2 < len(words) {
					s.argv(words[n+1:], name)
				} else {
					s.shellText(words[n+1], c.name)
				}
				return
			case strings.HasPrefix(t, "|"):
				s.shellText(t[1:], c.name)
				return
			case strings.HasSuffix(t, "|"):
				s.shellText(strings.TrimSuffix(t, "|"), c.name)
				return
			}
		}
	}
}

func (s *codeScanner) argv(words []string, layer string) {
	args := make([]Word, len(words))
	for i, a := range words {
		args[i] = s.w.word(a)
	}
	s.w.nest(s.sh, s.inv, args, nesting{layer: layer})
}

func (s *codeScanner) shellText(text, call string) {
	s.w.nestString(s.sh, s.inv, s.w.word(text), nesting{layer: s.layer + ": " + call})
}

const maxCallLength = 64 << 10 // of the arguments of one call

// arguments reads the arguments from i on, as far as they are literals, and
// the text up to the end of the call.
func (s *codeScanner) arguments(i int, end byte) (args []codeArg, raw string) {
	code := s.code[:min(len(s.code), i+maxCallLength)]
	start := i
	defer func() { s.w.spend(32 * (i - start)) }()
	if s.w.work <= 0 {
		return nil, ""
	}
	for n := 0; n < maxFields; n++ {
		i = skipSpace(code, i)
		if i >= len(code) || code[i] == end || code[i] == '}' {
			break
		}
		a, next := s.argument(code, i)
		args = append(args, a)
		i = next
		// Up to the comma: what else belongs to this argument makes it unknown.
		depth := 0
		for i < len(code) && (depth > 0 || code[i] != ',') {
			c := code[i]
			if depth == 0 && (c == end || end == ';' && (c == '\n' || c == '}')) {
				return args, code[start:i]
			}
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				if depth--; depth < 0 {
					return args, code[start:i]
				}
			case '"', '\'':
				if _, k, ok := stringLiteral(code[i:], false); ok {
					i += k - 1
				}
			case ' ', '\t', '\n', '\r':
			default:
				if depth == 0 && s.l.name != "awk" && !strings.HasPrefix(code[i:], ".split") && c != '.' && !isWordByte(c) {
					args[len(args)-1].known = false
				}
			}
			i++
		}
		if i < len(code) {
			i++
		}
	}
	return args, code[start:min(i, len(code))]
}

// argument reads one argument; not known if it is no literal. Lists can be
// added to each other.
func (s *codeScanner) argument(code string, i int) (codeArg, int) {
	a, next := s.oneArgument(code, i)
	for a.known && a.isList && len(a.list) < maxFields {
		k := skipSpace(code, next)
		if k >= len(code) || code[k] != '+' || k+1 < len(code) && code[k+1] == '=' || s.l.name == "perl" {
			break
		}
		k = skipSpace(code, k+1)
		if k >= len(code) {
			break
		}
		more, end := s.oneArgument(code, k)
		if !more.known {
			more.text = s.w.mark(Part{Kind: Other})
		}
		a.list = append(slices.Clip(a.list), more.words()...)
		if next = end; !more.known {
			break
		}
	}
	return a, next
}

func (s *codeScanner) oneArgument(code string, i int) (codeArg, int) {
	for _, keyword := range [...]string{"args=", "path=", "argv="} {
		if s.l.name == "python" && strings.HasPrefix(code[i:], keyword) && i+len(keyword) < len(code) && code[i+len(keyword)] != '=' {
			i += len(keyword)
		}
	}
	if rest, ok := strings.CutPrefix(code[i:], "shlex.split("); ok {
		if text, n, ok := s.literal(len(code) - len(rest)); ok {
			if end := skipSpace(code, len(code)-len(rest)+n); end < len(code) && code[end] == ')' {
				return codeArg{list: strings.Fields(text), isList: true, known: true}, end + 1
			}
		}
	}
	if list, end := s.named(code, i); end > i {
		return codeArg{list: list, isList: true, known: true}, end
	}
	if code[i] == '[' || strings.HasPrefix(code[i:], "{") {
		if code[i] == '{' {
			return codeArg{}, i
		}
		return s.listArgument(code, i)
	}
	if code[i] == '(' && s.l.name != "python" {
		i++
	} else if code[i] == '(' {
		return s.listArgument(code, i)
	}
	for _, prefix := range []string{"qw", "%w"} {
		if strings.HasPrefix(code[i:], prefix) {
			if text, n, ok := delimited(code[i+2:]); ok {
				return codeArg{list: strings.Fields(text), isList: true, known: true}, i + 2 + n
			}
		}
	}
	text, n, ok := s.literal(i)
	if !ok {
		return codeArg{}, i
	}
	switch rest := code[min(i+n, len(code)):]; {
	case strings.HasPrefix(rest, ".split("):
		return codeArg{list: strings.Fields(text), isList: true, known: true}, i + n
	case strings.HasPrefix(rest, ".join("):
		// " ".join(["git", "commit"])
		at := skipSpace(code, i+n+len(".join("))
		if at < len(code) {
			if list, end := s.oneArgument(code, at); list.known && list.isList {
				if end = skipSpace(code, end); end < len(code) && code[end] == ')' {
					return codeArg{text: strings.Join(list.list, text), known: true}, end + 1
				}
			}
		}
		return codeArg{}, i + n
	}
	return codeArg{text: text, known: true}, i + n
}

// named reads the name of a list; *x, @x and ...x are its elements. It returns i
// for any other text.
func (s *codeScanner) named(code string, i int) (list []string, next int) {
	name := i
	for name < len(code) && strings.IndexByte("*.@", code[name]) >= 0 && name-i < 3 {
		name++
	}
	end := name
	for end < len(code) && (isWordByte(code[end]) || code[end] == '$') {
		end++
	}
	if list, ok := s.lists[code[name:end]]; ok && end > name && s.w.spend(len(list)) {
		return list, end
	}
	return nil, i
}

func (s *codeScanner) listArgument(code string, i int) (codeArg, int) {
	a := codeArg{isList: true, known: true}
	i++
	for i < len(code) && len(a.list) < maxFields {
		i = skipSpace(code, i)
		if i >= len(code) || code[i] == ']' || code[i] == ')' {
			return a, min(i+1, len(code))
		}
		if list, end := s.named(code, i); end > i {
			a.list = append(a.list, list...)
			if i = skipSpace(code, end); i < len(code) && code[i] == ',' {
				i++
			}
			continue
		}
		text, n, ok := s.literal(i)
		if !ok {
			// A value that is not known: one word.
			text, n = s.w.mark(Part{Kind: Other}), 0
			depth := 0
			for i+n < len(code) && (depth > 0 || code[i+n] != ',' && code[i+n] != ']' && code[i+n] != ')') {
				switch code[i+n] {
				case '(', '[':
					depth++
				case ')', ']':
					depth--
				}
				n++
			}
		}
		a.list = append(a.list, text)
		i = skipSpace(code, i+n)
		if i < len(code) && code[i] == ',' {
			i++
		}
	}
	return a, i
}

// literal reads a string, adjacent or added strings, or a name that was given
// one, at offset i.
func (s *codeScanner) literal(i int) (string, int, bool) {
	code := s.code
	start := i
	var b strings.Builder
	found := false
	for i < len(code) {
		text, n, ok := s.oneLiteral(i)
		if !ok {
			break
		}
		found = true
		b.WriteString(text)
		i += n
		j := skipSpace(code, i)
		if j < len(code) && (code[j] == '+' || code[j] == '.' && (s.l.name == "perl" || s.l.name == "php")) {
			k := skipSpace(code, j+1)
			if _, _, ok := s.oneLiteral(k); ok {
				i = k
				continue
			}
			// Something unknown is added.
			b.WriteString(s.w.mark(Part{Kind: Other}))
			break
		}
		if s.l.name == "awk" && j < len(code) && strings.IndexByte(",);}|>\n", code[j]) < 0 {
			// Values stand side by side.
			if _, _, ok := s.oneLiteral(j); !ok {
				b.WriteString(s.w.mark(Part{Kind: Other}))
				break
			}
		} else if s.l.name != "python" || j >= len(code) || code[j] != '"' && code[j] != '\'' {
			break
		}
		i = j
	}
	return b.String(), i - start, found
}

func (s *codeScanner) oneLiteral(i int) (string, int, bool) {
	code := s.code
	if i >= len(code) {
		return "", 0, false
	}
	c := code[i]
	switch {
	case c == '"' || c == '\'' || c == '`' && s.l.name == "node":
		text, n, ok := stringLiteral(code[i:], s.l.name == "python")
		if ok && c != '\'' {
			text = s.interpolate(text)
		}
		return text, n, ok
	case strings.HasPrefix(code[i:], "q(") || strings.HasPrefix(code[i:], "q{") || strings.HasPrefix(code[i:], "q["):
		text, n, ok := delimited(code[i+1:])
		return text, n + 1, ok
	case s.l.name == "perl" && strings.HasPrefix(code[i:], "qq") && i+2 < len(code):
		text, n, ok := delimited(code[i+2:])
		return text, n + 2, ok
	}
	j := i
	for j < len(code) && (isWordByte(code[j]) || code[j] == '$' || code[j] == '@') {
		j++
	}
	if j < len(code) && j-i <= 2 && j > i && (code[j] == '"' || code[j] == '\'') && s.l.name == "python" {
		raw := strings.ContainsAny(code[i:j], "rR")
		text, n, ok := stringLiteral(code[j:], true)
		if ok && raw {
			text = strings.Trim(code[j:j+n], code[j:j+1])
		}
		if ok && strings.ContainsAny(code[i:j], "fF") {
			text = s.braces(text)
		}
		return text, n + j - i, ok
	}
	if s.l.name == "python" && j > i {
		// The home directory, as most scripts spell it.
		for _, call := range [...]string{"os.path.expanduser(", "expanduser(", "Path.home("} {
			rest, ok := strings.CutPrefix(code[i:], call)
			if !ok {
				continue
			}
			text, n := "~", 0
			if call != "Path.home(" {
				if text, n, ok = stringLiteral(rest, true); !ok {
					break
				}
			}
			end := strings.IndexByte(rest[n:], ')')
			if end < 0 || !strings.HasPrefix(text, "~") {
				break
			}
			home := s.w.read(s.sh, "HOME")
			if len(home.list) != 1 {
				break
			}
			return home.list[0] + text[1:], len(call) + n + end + 1, true
		}
	}
	if v, ok := s.vars[code[i:j]]; ok && j > i {
		return v, j - i, true
	}
	return "", 0, false
}

// interpolate replaces #{…} and ${…}: by a literal that the name was given, or
// by something unknown.
func (s *codeScanner) interpolate(text string) string {
	switch s.l.name {
	case "ruby":
		return s.replaceBraces(text, "#{")
	case "node":
		return s.replaceBraces(text, "${")
	}
	return text
}

func (s *codeScanner) braces(text string) string { return s.replaceBraces(text, "{") }

func (s *codeScanner) replaceBraces(text, open string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, open)
		if i < 0 {
			break
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			break
		}
		b.WriteString(text[:i])
		name := text[i+len(open) : i+end]
		if v, ok := s.vars[name]; ok && s.w.spend(len(v)/16) {
			b.WriteString(v)
		} else {
			b.WriteString(s.w.mark(Part{Text: name, Kind: Variable}))
		}
		text = text[i+end+1:]
	}
	b.WriteString(text)
	return b.String()
}
