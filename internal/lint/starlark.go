package lint

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"sallyport/internal/tomltext"
)

// Limits on what a rules file may cost. It is a program of strangers.
const (
	maxRulesFile   = 512 << 10
	maxStarDepth   = 60  // nesting of expressions
	maxStarPostfix = 300 // calls, indexes and attributes of one statement
	maxStarSteps   = 1_000_000
	maxStarValues  = 1 << 18 // parts and bytes of what goes into one operation
	maxExamples    = 1000
	starTime       = 600 * time.Millisecond // for all files of a run
)

// A budget is the time that is left for evaluating rules files.
type budget struct{ left time.Duration }

func newBudget() *budget { return &budget{starTime} }

// starlark evaluates a rules file. A file that cannot be evaluated counts as
// empty, as it does for Codex, which then refuses to start.
func (r *run) starlark(f *file, b *budget) []prefixRule {
	report := reporter{run: r}.as("X718")
	fail := func(line, column int, message string) []prefixRule {
		r.add(Finding{ID: "X718", Severity: Error, File: f.name, Line: line, Column: column,
			Message: "cannot be evaluated, and counts as empty: " + message, Help: report.rule.Fix, value: message})
		return nil
	}
	if len(f.data) > maxRulesFile {
		return fail(1, 1, fmt.Sprintf("larger than %d KiB", maxRulesFile>>10))
	}
	if !utf8.Valid(f.data) {
		return fail(1, 1, "not valid UTF-8")
	}
	if at := bytes.IndexByte(f.data, 0); at >= 0 {
		// The scanner takes it for the end of the file.
		line, column := f.position(at)
		return fail(line, column, "a null byte")
	}
	if at := starTooDeep(f.data); at >= 0 {
		line, column := f.position(at)
		return fail(line, column, fmt.Sprintf("nested more than %d levels deep", maxStarDepth))
	}
	options := &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}
	tree, err := options.Parse(f.name, f.data, 0)
	if err != nil {
		return fail(starError(err))
	}
	e := &evaluation{run: r, file: f}
	done := make(chan error, 1)
	thread := &starlark.Thread{Name: "rules", Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(maxStarSteps)
	for _, stmt := range tree.Stmts {
		if x, ok := stmt.(*syntax.ExprStmt); ok && !e.definesRules(x.X) {
			start, _ := stmt.Span()
			r.add(Finding{ID: "X718", Severity: Warning, File: f.name, Line: int(start.Line), Column: int(start.Col),
				Message: "this statement is no prefix_rule or host_executable", Help: report.rule.Fix, value: fmt.Sprint(start.Line)})
		}
	}
	if at := guardTree(tree); at != nil {
		return fail(int(at.Line), int(at.Col), "an operation in place on a part of a value is not supported")
	}
	go func() {
		// A panic here would end the program, whatever the file holds.
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("internal error: %v", p)
			}
		}()
		program, err := starlark.FileProgram(tree, e.predeclared().Has)
		if err == nil {
			_, err = program.Init(thread, e.predeclared())
		}
		done <- err
	}()
	begin := time.Now()
	timer := time.NewTimer(b.left)
	defer timer.Stop()
	select {
	case err = <-done:
		b.left -= time.Since(begin)
	case <-timer.C:
		// One long operation cannot be stopped; it is left behind.
		thread.Cancel("too slow")
		b.left = 0
		return fail(1, 1, "it takes too long")
	}
	if err != nil {
		return fail(starError(err))
	}
	return e.rules
}

// starError is the place and the text of an error.
func starError(err error) (line, column int, message string) {
	var eval *starlark.EvalError
	var parse syntax.Error
	var resolved resolve.ErrorList
	switch {
	case errors.As(err, &eval):
		// The innermost call of the file itself; frames of built-ins have no
		// line.
		for i := range eval.CallStack {
			if pos := eval.CallStack.At(i).Pos; pos.Line > 0 && pos.Filename() != "<builtin>" {
				line, column = int(pos.Line), int(pos.Col)
				break
			}
		}
		return max(line, 1), max(column, 1), clip(eval.Msg)
	case errors.As(err, &parse):
		return int(parse.Pos.Line), int(parse.Pos.Col), clip(parse.Msg)
	case errors.As(err, &resolved) && len(resolved) > 0:
		return int(resolved[0].Pos.Line), int(resolved[0].Pos.Col), clip(resolved[0].Msg)
	}
	return 1, 1, clip(err.Error())
}

// starTooDeep is where nesting goes too deep, -1 if it does not: brackets and,
// since the parser recurses on them as well, chains of operators and keywords
// that take one operand.
func starTooDeep(data []byte) int {
	depth, chain, postfix := 0, 0, 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c == '.' || (c == '(' || c == '[') && i > 0 && (data[i-1] == ')' || data[i-1] == ']') {
			if postfix++; postfix > maxStarPostfix {
				return i
			}
		}
		switch {
		case c == '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case c == '"' || c == '\'':
			chain = 0
			i = tomltext.StringEnd(data, i) - 1 // the two languages quote alike
		case c == '(' || c == '[' || c == '{':
			if depth++; depth > maxStarDepth {
				return i
			}
			chain = 0
		case c == ')' || c == ']' || c == '}':
			depth = max(depth-1, 0)
			chain = 0
		case c == '-' || c == '+' || c == '~':
			if chain++; chain > maxStarDepth {
				return i
			}
		case isWordByte(c):
			start := i
			for i+1 < len(data) && isWordByte(data[i+1]) {
				i++
			}
			switch string(data[start : i+1]) {
			case "not", "lambda", "if", "else", "for", "in", "and", "or":
				if chain++; chain > maxStarDepth*4 {
					return start
				}
			}
		case c == '\n' && depth == 0:
			chain, postfix = 0, 0
		}
	}
	return -1
}

func isWordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// An evaluation collects the rules of one file.
type evaluation struct {
	run   *run
	file  *file
	rules []prefixRule
}

// definesRules reports an expression that calls for a rule, or is a text.
func (e *evaluation) definesRules(x syntax.Expr) (found bool) {
	if lit, ok := x.(*syntax.Literal); ok {
		return lit.Token == syntax.STRING
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			if id, ok := call.Fn.(*syntax.Ident); ok && (id.Name == "prefix_rule" || id.Name == "host_executable") {
				found = true
			}
		}
		return !found
	})
	return found
}

func (e *evaluation) predeclared() starlark.StringDict {
	return starlark.StringDict{
		"prefix_rule":     starlark.NewBuiltin("prefix_rule", e.prefixRule),
		"host_executable": starlark.NewBuiltin("host_executable", hostExecutable),
		guardCall:         starlark.NewBuiltin("call", guardedCall),
		guardBinary:       starlark.NewBuiltin("operator", guardedBinary),
	}
}

func hostExecutable(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var paths starlark.Iterable
	return starlark.None, starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "paths", &paths)
}

func (e *evaluation) prefixRule(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern starlark.Value
	var match, notMatch, justification starlark.Value
	name := "allow"
	var given starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern", &pattern, "decision?", &given, "justification?", &justification, "match?", &match, "not_match?", &notMatch); err != nil {
		return nil, err
	}
	if given != nil && given != starlark.None {
		text, ok := starlark.AsString(given)
		if !ok {
			return nil, fmt.Errorf("decision must be a string, not %s", given.Type())
		}
		name = text
	}
	rule := prefixRule{file: e.file, offset: e.callOffset(thread)}
	switch name {
	case "allow":
		rule.decision = allowed
	case "prompt":
		rule.decision = prompt
	case "forbidden":
		rule.decision = forbidden
	default:
		return nil, fmt.Errorf("decision must be allow, prompt or forbidden, not %q", clip(name))
	}
	list, err := items(pattern, "pattern")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("pattern must not be empty")
	}
	for _, item := range list {
		if text, ok := starlark.AsString(item); ok {
			rule.pattern = append(rule.pattern, []string{text})
			continue
		}
		words, err := words(item, "an element of pattern")
		if err != nil {
			return nil, err
		}
		if len(words) == 0 {
			return nil, errors.New("an element of pattern has no alternatives")
		}
		rule.pattern = append(rule.pattern, words)
	}
	if rule.match, err = examples(match, "match"); err != nil {
		return nil, err
	}
	if rule.notMatch, err = examples(notMatch, "not_match"); err != nil {
		return nil, err
	}
	e.rules = append(e.rules, rule)
	return starlark.None, nil
}

// callOffset is where the file calls the built-in that runs.
func (e *evaluation) callOffset(thread *starlark.Thread) int {
	for depth := 1; depth < thread.CallStackDepth(); depth++ {
		if pos := thread.CallFrame(depth).Pos; pos.Line > 0 && pos.Filename() == e.file.name {
			return e.file.offset(int(pos.Line), int(pos.Col))
		}
	}
	return 0
}

// offset undoes position.
func (f *file) offset(line, column int) int {
	f.position(0)
	if line < 1 || line > len(f.lines) {
		return 0
	}
	at := f.lines[line-1]
	for ; column > 1 && at < len(f.data); column-- {
		_, size := utf8.DecodeRune(f.data[at:])
		at += size
	}
	return at
}

func items(v starlark.Value, what string) (out []starlark.Value, err error) {
	if _, isString := v.(starlark.String); isString || v == nil {
		return nil, fmt.Errorf("%s must be a list", what)
	}
	seq, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("%s must be a list, not %s", what, v.Type())
	}
	it := seq.Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		out = append(out, x)
	}
	return out, nil
}

func words(v starlark.Value, what string) (out []string, err error) {
	list, err := items(v, what)
	for _, item := range list {
		text, ok := starlark.AsString(item)
		if !ok {
			return nil, fmt.Errorf("%s must hold strings, not %s", what, item.Type())
		}
		out = append(out, text)
	}
	return out, err
}

// examples are command lines, as texts or as lists of words.
func examples(v starlark.Value, what string) (out [][]string, err error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	list, err := items(v, what)
	if err != nil {
		return nil, err
	}
	if len(list) > maxExamples {
		return nil, fmt.Errorf("%s has more than %d examples", what, maxExamples)
	}
	for _, item := range list {
		if text, ok := starlark.AsString(item); ok {
			tokens, ok := splitWords(text)
			if !ok {
				return nil, fmt.Errorf("%s: the quotes in %q do not match", what, clip(text))
			}
			out = append(out, tokens)
			continue
		}
		tokens, err := words(item, "an example of "+what)
		if err != nil {
			return nil, err
		}
		out = append(out, tokens)
	}
	return out, nil
}

// splitWords splits a command line at blanks, with the shell's quotes and
// nothing else of the shell.
func splitWords(s string) (words []string, ok bool) {
	var b strings.Builder
	open := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			if open {
				words = append(words, b.String())
				b.Reset()
				open = false
			}
			continue
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			b.WriteByte(s[i])
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			b.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			for i++; ; i++ {
				if i >= len(s) {
					return nil, false
				}
				if s[i] == '"' {
					break
				}
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
		open = true
	}
	if open {
		words = append(words, b.String())
	}
	return words, true
}

// Every call and every operator of a file goes through one of these two, which
// look at the size of the operands first: a single step such as "x" * 1000000000
// would otherwise take all memory. The names cannot be written in a file.
const (
	guardCall   = "call guard"
	guardBinary = "operator guard"
)

// guardTree rewrites the calls and operators of a parsed file. It returns the
// place of one that it cannot guard.
func guardTree(tree *syntax.File) (refused *syntax.Position) {
	syntax.Walk(tree, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.AssignStmt); ok && s.Op != syntax.EQ {
			if _, simple := s.LHS.(*syntax.Ident); !simple {
				refused = &s.OpPos
			}
		}
		return refused == nil
	})
	if refused == nil {
		guardStmts(tree.Stmts)
	}
	return refused
}

func guardStmts(stmts []syntax.Stmt) {
	for _, s := range stmts {
		guardStmt(s)
	}
}

func guardStmt(stmt syntax.Stmt) {
	switch s := stmt.(type) {
	case *syntax.AssignStmt:
		s.RHS = guardExpr(s.RHS)
		s.LHS = guardExpr(s.LHS)
		if s.Op != syntax.EQ {
			if target, ok := s.LHS.(*syntax.Ident); ok {
				op := s.Op - syntax.PLUS_EQ + syntax.PLUS
				name := &syntax.Ident{NamePos: s.OpPos, Name: target.Name}
				s.RHS = guardedOperator(s.OpPos, op, name, s.RHS)
				s.Op = syntax.EQ
			}
		}
	case *syntax.DefStmt:
		guardStmts(s.Body)
		for i, p := range s.Params {
			if b, ok := p.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
				b.Y = guardExpr(b.Y)
				s.Params[i] = b
			}
		}
	case *syntax.ExprStmt:
		s.X = guardExpr(s.X)
	case *syntax.ForStmt:
		s.X = guardExpr(s.X)
		guardStmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond = guardExpr(s.Cond)
		guardStmts(s.Body)
	case *syntax.IfStmt:
		s.Cond = guardExpr(s.Cond)
		guardStmts(s.True)
		guardStmts(s.False)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = guardExpr(s.Result)
		}
	}
}

func guardExpr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.BinaryExpr:
		x.X, x.Y = guardExpr(x.X), guardExpr(x.Y)
		switch x.Op {
		case syntax.AND, syntax.OR, syntax.EQ:
			return x
		}
		return guardedOperator(x.OpPos, x.Op, x.X, x.Y)
	case *syntax.CallExpr:
		fn := guardExpr(x.Fn)
		args := []syntax.Expr{fn}
		for _, a := range x.Args {
			switch a := a.(type) {
			case *syntax.BinaryExpr:
				if a.Op == syntax.EQ {
					a.Y = guardExpr(a.Y)
					args = append(args, a)
					continue
				}
			case *syntax.UnaryExpr:
				if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
					a.X = guardExpr(a.X)
					args = append(args, a)
					continue
				}
			}
			args = append(args, guardExpr(a))
		}
		x.Fn, x.Args = &syntax.Ident{NamePos: x.Lparen, Name: guardCall}, args
		start, _ := fn.Span()
		x.Fn.(*syntax.Ident).NamePos = start
		x.Lparen = start
		return x
	case *syntax.Comprehension:
		x.Body = guardExpr(x.Body)
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.X = guardExpr(c.X)
			case *syntax.IfClause:
				c.Cond = guardExpr(c.Cond)
			}
		}
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = guardExpr(x.Cond), guardExpr(x.True), guardExpr(x.False)
	case *syntax.DictEntry:
		x.Key, x.Value = guardExpr(x.Key), guardExpr(x.Value)
	case *syntax.DictExpr:
		for i := range x.List {
			x.List[i] = guardExpr(x.List[i])
		}
	case *syntax.DotExpr:
		x.X = guardExpr(x.X)
	case *syntax.IndexExpr:
		x.X, x.Y = guardExpr(x.X), guardExpr(x.Y)
	case *syntax.LambdaExpr:
		x.Body = guardExpr(x.Body)
	case *syntax.ListExpr:
		for i := range x.List {
			x.List[i] = guardExpr(x.List[i])
		}
	case *syntax.ParenExpr:
		x.X = guardExpr(x.X)
	case *syntax.SliceExpr:
		x.X = guardExpr(x.X)
		for _, part := range []*syntax.Expr{&x.Lo, &x.Hi, &x.Step} {
			if *part != nil {
				*part = guardExpr(*part)
			}
		}
	case *syntax.TupleExpr:
		for i := range x.List {
			x.List[i] = guardExpr(x.List[i])
		}
	case *syntax.UnaryExpr:
		if x.X != nil {
			x.X = guardExpr(x.X)
		}
	}
	return x
}

func guardedOperator(pos syntax.Position, op syntax.Token, x, y syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{
		Fn:     &syntax.Ident{NamePos: pos, Name: guardBinary},
		Lparen: pos,
		Args: []syntax.Expr{
			&syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: fmt.Sprint(int(op)), Value: int64(op)},
			x, y,
		},
		Rparen: pos,
	}
}

var errTooLarge = errors.New("a value is too large")

func guardedBinary(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	op, err := starlark.AsInt32(args[0])
	if err != nil {
		return nil, err
	}
	x, y := args[1], args[2]
	left := maxStarValues
	if !fits(x, &left) || !fits(y, &left) {
		return nil, errTooLarge
	}
	switch token := syntax.Token(op); token {
	case syntax.STAR:
		if n, ok := repetition(x, y); ok && n > maxStarValues {
			return nil, errTooLarge
		}
		return starlark.Binary(token, x, y)
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		ok, err := starlark.Compare(token, x, y)
		return starlark.Bool(ok), err
	default:
		return starlark.Binary(token, x, y)
	}
}

// repetition is the size of a sequence times a number.
func repetition(x, y starlark.Value) (int, bool) {
	if n, ok := x.(starlark.Int); ok {
		x, y = y, n
	}
	n, ok := y.(starlark.Int)
	if !ok {
		return 0, false
	}
	times, ok := n.Int64()
	if !ok {
		return maxStarValues + 1, true
	}
	left := maxStarValues
	fits(x, &left)
	if used := int64(maxStarValues - left); used > 0 && times > int64(maxStarValues)/used {
		return maxStarValues + 1, true
	}
	return 0, true
}

func guardedCall(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	left := maxStarValues
	fn := args[0]
	if b, ok := fn.(*starlark.Builtin); ok && b.Receiver() != nil && !fits(b.Receiver(), &left) {
		return nil, errTooLarge
	}
	for _, a := range args[1:] {
		if !fits(a, &left) {
			return nil, errTooLarge
		}
	}
	for _, kv := range kwargs {
		if !fits(kv[1], &left) {
			return nil, errTooLarge
		}
	}
	if b, ok := fn.(*starlark.Builtin); ok && b.Receiver() != nil && slices.Contains([]string{"join", "replace", "format", "elems", "codepoints"}, b.Name()) {
		// These multiply what they are given.
		used := maxStarValues - left
		if used > 1<<12 {
			return nil, errTooLarge
		}
	}
	return starlark.Call(thread, fn, args[1:], kwargs)
}

// fits takes the size of a value, each part counted wherever it is reached,
// from what is left.
func fits(v starlark.Value, left *int) bool {
	*left--
	switch v := v.(type) {
	case starlark.String:
		*left -= len(v)
	case starlark.Bytes:
		*left -= len(v)
	case starlark.Int:
		if b := v.BigInt(); b.BitLen() > 64 {
			*left -= b.BitLen()
		}
	case *starlark.List:
		for i := 0; i < v.Len() && *left > 0; i++ {
			fits(v.Index(i), left)
		}
	case starlark.Tuple:
		for i := 0; i < v.Len() && *left > 0; i++ {
			fits(v.Index(i), left)
		}
	case *starlark.Dict:
		for _, item := range v.Items() {
			if *left <= 0 {
				break
			}
			fits(item[0], left)
			fits(item[1], left)
		}
	case starlark.Sequence:
		*left -= max(v.Len(), 0)
	}
	return *left > 0
}
