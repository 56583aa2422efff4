// Package starguard runs Starlark guards for agent-guard, which starts the
// program around it when the first of them is to judge a command.
package starguard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"sallyport/guards/plugin/script"
	"sallyport/guards/plugin/wire"
)

// Limits inside the worker. Steps end loops long before the time does; the
// process ends itself, or is ended by the system, when a guard wants more
// memory.
const (
	maxSteps     = 20_000_000
	workerMemory = 512 << 20
	heapLimit    = 256 << 20
	maxNesting   = 200 // of brackets
)

// Work serves requests for Starlark guards until its input ends. A guard sees
// nothing but ctx and search: no file, no network, no load, no clock.
func Work(in io.Reader, out io.Writer) int {
	limitMemory(workerMemory)
	debug.SetMemoryLimit(heapLimit)
	go watchMemory(heapLimit)
	time.AfterFunc(time.Minute, func() { os.Exit(4) }) // should the parent be gone
	w := &worker{in: bufio.NewReader(in), out: out, guards: map[int]*starGuard{}}
	for {
		var r wire.Request
		if err := w.read(&r); err != nil {
			return 0
		}
		value, err := w.serve(&r)
		answer := map[string]any{"done": true, "value": value}
		if err != nil {
			answer = map[string]any{"done": true, "error": err.Error()}
		}
		if wire.Write(w.out, answer) != nil {
			return 0
		}
	}
}

type worker struct {
	in     *bufio.Reader
	out    io.Writer
	guards map[int]*starGuard
}

type starGuard struct {
	globals  starlark.StringDict
	guard    starlark.Callable
	triggers []string
}

func (w *worker) read(into any) error {
	line, err := w.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func (w *worker) serve(r *wire.Request) (any, error) {
	switch r.Op {
	case "load":
		g, err := loadStar(r.Path, r.Source)
		if err != nil {
			return nil, err
		}
		w.guards[r.ID] = g
		return nil, nil
	case "call":
		return w.call(w.guards[r.ID], r.Ctx)
	case "cases":
		g := w.guards[r.ID]
		if g == nil {
			return nil, errors.New("not loaded")
		}
		tests, ok := g.globals["TESTS"]
		if !ok {
			return nil, nil
		}
		return plain(tests, 0)
	}
	return nil, fmt.Errorf("unknown request %q", r.Op)
}

// fileOptions is plain Starlark with top-level control flow and sets; while and
// recursion stay off, so that every guard ends.
var fileOptions = syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}

func newThread() *starlark.Thread {
	t := &starlark.Thread{Name: "guard", Print: func(*starlark.Thread, string) {}}
	t.SetMaxExecutionSteps(maxSteps)
	return t
}

func loadStar(path string, source []byte) (*starGuard, error) {
	if script.Depth(string(source)) > maxNesting { // the parser recurses
		return nil, fmt.Errorf("%s: brackets are nested deeper than %d", path, maxNesting)
	}
	globals, err := starlark.ExecFileOptions(&fileOptions, newThread(), path, source, starlark.StringDict{
		"search": starlark.NewBuiltin("search", search),
	})
	if err != nil {
		return nil, starError(err)
	}
	g := &starGuard{globals: globals}
	fn, ok := globals["guard"].(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%s: defines no function guard(ctx)", path)
	}
	g.guard = fn
	if t, ok := globals["TRIGGERS"]; ok {
		v, err := plain(t, 0)
		list, isList := v.([]any)
		if err != nil || !isList {
			return nil, fmt.Errorf("%s: TRIGGERS is no list of strings", path)
		}
		for _, item := range list {
			s, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%s: TRIGGERS is no list of strings", path)
			}
			g.triggers = append(g.triggers, s)
		}
	}
	return g, nil
}

// starError is an error with the line it stands for.
func starError(err error) error {
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		where := ""
		for i := len(eval.CallStack) - 1; i >= 0; i-- {
			if p := eval.CallStack[i].Pos; p.Line > 0 {
				where = fmt.Sprintf("%s:%d: ", p.Filename(), p.Line)
				break
			}
		}
		return errors.New(where + eval.Msg)
	}
	return err
}

func (w *worker) call(g *starGuard, data *wire.Context) (any, error) {
	if g == nil || data == nil {
		return nil, errors.New("not loaded")
	}
	if data.Computed && len(g.triggers) > 0 && !overlap(g.triggers, data.Kinds) {
		return nil, nil
	}
	v, err := starlark.Call(newThread(), g.guard, starlark.Tuple{newStarContext(w, data)}, nil)
	if err != nil {
		return nil, starError(err)
	}
	return plain(v, 0)
}

func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

// A starContext is ctx in Starlark.
type starContext struct {
	w       *worker
	members starlark.StringDict
}

var (
	_ starlark.HasAttrs = (*starContext)(nil)
	_ starlark.Value    = (*starContext)(nil)
)

func newStarContext(w *worker, d *wire.Context) *starContext {
	env := starlark.NewDict(len(d.Env))
	for k, v := range d.Env {
		_ = env.SetKey(starlark.String(k), starlark.String(v))
	}
	cwd := starlark.Value(starlark.None)
	if d.Cwd != nil {
		cwd = starlark.String(*d.Cwd)
	}
	c := &starContext{w: w, members: starlark.StringDict{
		"argv": toStar(anySlice(d.Argv)), "raw": starlark.String(d.Raw), "env": env, "cwd": cwd,
		"ready_label": starlark.String(d.ReadyLabel),
	}}
	method := func(name string, params func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error), tuple bool) {
		c.members[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			list, err := params(args, kwargs)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.Name(), err)
			}
			v, err := w.member(name, list)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.Name(), err)
			}
			if l, ok := v.(*starlark.List); ok && tuple {
				items := make(starlark.Tuple, l.Len())
				for i := range items {
					items[i] = l.Index(i)
				}
				return items, nil
			}
			return v, nil
		})
	}
	none := func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error) {
		return nil, starlark.UnpackArgs("ctx", args, kwargs)
	}
	texts := func(names ...string) func(starlark.Tuple, []starlark.Tuple) ([]any, error) {
		return func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error) {
			values := make([]string, len(names))
			var pairs []any
			for i, n := range names {
				pairs = append(pairs, n, &values[i])
			}
			err := starlark.UnpackArgs("ctx", args, kwargs, pairs...)
			return anySlice(values), err
		}
	}
	method("override", func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error) {
		var names []any
		for _, a := range args {
			s, ok := starlark.AsString(a)
			if !ok {
				return nil, errors.New("names are strings")
			}
			names = append(names, s)
		}
		if len(kwargs) > 0 {
			return nil, errors.New("takes no named arguments")
		}
		return names, nil
	}, false)
	method("gh_subcommand", none, true)
	method("git_subcommand", none, false)
	method("opt", texts("short", "long"), false)
	method("opts", texts("short", "long"), false)
	method("mentions", texts("text"), false)
	method("positional_after", texts("token"), false)
	method("repo_flag", none, false)
	method("gh_api_posted_text", none, true)
	method("target_repo_owner", none, false)
	method("gh_body", func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error) {
		title, files := false, true
		err := starlark.UnpackArgs("gh_body", args, kwargs, "include_title?", &title, "read_files?", &files)
		return []any{title, files}, err
	}, false)
	method("run", func(args starlark.Tuple, kwargs []starlark.Tuple) ([]any, error) {
		var argv *starlark.List
		if err := starlark.UnpackArgs("run", args, kwargs, "argv", &argv); err != nil {
			return nil, err
		}
		v, err := plain(argv, 0)
		return []any{v}, err
	}, false)
	return c
}

// lazy are the members that are looked up when they are first read.
var lazy = [...]string{"message", "refspecs", "branch"}

func (c *starContext) Attr(name string) (starlark.Value, error) {
	if v, ok := c.members[name]; ok {
		return v, nil
	}
	for _, l := range lazy {
		if l == name {
			v, err := c.w.member(name, nil)
			if err == nil {
				c.members[name] = v
			}
			return v, err
		}
	}
	return nil, nil
}

func (c *starContext) AttrNames() []string   { return append(c.members.Keys(), lazy[:]...) }
func (c *starContext) String() string        { return "ctx" }
func (c *starContext) Type() string          { return "ctx" }
func (c *starContext) Freeze()               {}
func (c *starContext) Truth() starlark.Bool  { return true }
func (c *starContext) Hash() (uint32, error) { return 0, errors.New("unhashable: ctx") }

// member asks the parent.
func (w *worker) member(name string, args []any) (starlark.Value, error) {
	if args == nil {
		args = []any{}
	}
	if err := wire.Write(w.out, map[string]any{"ask": name, "args": args}); err != nil {
		os.Exit(1)
	}
	var m wire.MemberAnswer
	if err := w.read(&m); err != nil {
		os.Exit(1)
	}
	if m.Error != "" {
		return nil, errors.New(m.Error)
	}
	return toStar(m.Value), nil
}

func anySlice(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// toStar turns decoded JSON into Starlark values.
func toStar(v any) starlark.Value {
	switch v := v.(type) {
	case string:
		return starlark.String(v)
	case bool:
		return starlark.Bool(v)
	case float64:
		return starlark.MakeInt64(int64(v))
	case []any:
		items := make([]starlark.Value, len(v))
		for i, item := range v {
			items[i] = toStar(item)
		}
		return starlark.NewList(items)
	case map[string]any:
		d := starlark.NewDict(len(v))
		for k, item := range v {
			_ = d.SetKey(starlark.String(k), toStar(item))
		}
		return d
	}
	return starlark.None
}

// maxPlain bounds the text that a guard may hand back.
const maxPlain = 64 << 10

// plain turns what a guard returns into values for JSON.
func plain(v starlark.Value, depth int) (any, error) {
	if depth > 8 {
		return nil, errors.New("the value is nested too deep")
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		s := string(v)
		if len(s) > maxPlain {
			s = s[:maxPlain]
		}
		return strings.ToValidUTF8(s, "\uFFFD"), nil
	case starlark.Int:
		n, ok := v.Int64()
		if !ok {
			return nil, errors.New("the number is too large")
		}
		return n, nil
	case *starlark.Dict:
		out := map[string]any{}
		for _, item := range v.Items() {
			k, ok := starlark.AsString(item[0])
			if !ok || len(out) > 1000 {
				return nil, errors.New("the keys of a dictionary are strings")
			}
			p, err := plain(item[1], depth+1)
			if err != nil {
				return nil, err
			}
			out[k] = p
		}
		return out, nil
	case starlark.Iterable:
		out := []any{}
		it := v.Iterate()
		defer it.Done()
		var item starlark.Value
		for it.Next(&item) {
			p, err := plain(item, depth+1)
			if err != nil {
				return nil, err
			}
			if out = append(out, p); len(out) > 10_000 {
				return nil, errors.New("the list is too long")
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of type %s cannot be handed over", v.Type())
}

// search is the match of a regular expression (RE2) in a text, or None.
func search(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern, text string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "pattern", &pattern, "text", &text); err != nil {
		return nil, err
	}
	if len(pattern) > 4096 {
		return nil, errors.New("search: the pattern is too long")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if loc := re.FindStringIndex(text); loc != nil {
		return starlark.String(text[loc[0]:loc[1]]), nil
	}
	return starlark.None, nil
}

// watchMemory ends the process when its heap grows beyond limit, where the
// system does not do that.
func watchMemory(limit uint64) {
	var m runtime.MemStats // not runtime/metrics: its tables cost every start
	for {
		time.Sleep(5 * time.Millisecond)
		if runtime.ReadMemStats(&m); m.HeapAlloc > limit {
			os.Stderr.WriteString("it wanted too much memory\n")
			os.Exit(3)
		}
	}
}
