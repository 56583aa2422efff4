package plugin

import (
	stdctx "context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/guards/plugin/wire"
	"sallyport/internal/shellcmd"
)

// A context is the ctx of a Starlark or Python guard for one command: what is
// handed over at once, and the answers to what the guard asks. Both languages
// share it, so that a member means the same in both.
type context struct {
	set      *Set
	file     *file
	call     *guards.Call
	deadline time.Time
	// overrides are the names that the guard asked about.
	overrides []string
}

const maxRaw = 256 << 10

func (x *context) data() *wire.Context {
	c := x.call
	d := &wire.Context{
		Argv: guards.Words(c.Command), Env: map[string]string{},
		ReadyLabel: x.readyLabel(), Kinds: kinds(c), Computed: x.file.loose,
	}
	if name := c.Name(); name != "" {
		d.Argv[0] = name
	}
	for _, a := range c.Assigns {
		d.Env[a.Name] = a.Value.Value
	}
	if !c.Place.Unknown && c.Place.Dir != "" {
		d.Cwd = &c.Place.Dir
	}
	d.Raw = rawText(c, d.Argv)
	return d
}

// rawText is the command in one line of shell: assignments, words, and what it
// reads from standard input, so that a search in it survives quoting tricks and
// here-documents.
func rawText(c *guards.Call, argv []string) string {
	var b strings.Builder
	for _, a := range c.Assigns {
		if a.Inline {
			b.WriteString(a.Name + "=" + shellQuote(a.Value.Value) + " ")
		}
	}
	for i, w := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(shellQuote(w))
		if b.Len() > maxRaw {
			break
		}
	}
	if c.Stdin.Value != "" {
		b.WriteString("\n" + c.Stdin.Value)
	}
	return b.String()[:min(b.Len(), maxRaw)]
}

// shellQuote writes a word so that a shell reads it as it is.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func (x *context) readyLabel() string {
	if l := x.set.opts.ReadyLabel; l != "" {
		return l
	}
	if l, ok := x.call.HookEnv("MAGPIE_READY_LABEL"); ok && l != "" {
		return l
	}
	return "ready for maintainer review"
}

// unreadable stands for a body file that cannot be read, as in the contract of
// contributed guards.
const unreadable = "\x00UNREADABLE_BODY_FILE\x00"

// answer serves one question of a guard. An error ends the guard's call.
func (x *context) answer(member string, args []json.RawMessage) (any, error) {
	c := x.call
	switch member {
	case "override":
		var names []string
		for i := range args {
			var n string
			if err := arg(args, i, &n); err != nil {
				return nil, err
			}
			names = append(names, n)
		}
		return x.override(names), nil
	case "gh_subcommand":
		if group, sub, ok := ghSubcommand(c); ok {
			return []string{group, sub}, nil
		}
		return nil, nil
	case "git_subcommand":
		if c.Git != nil && c.Git.Name != "" {
			return c.Git.Name, nil
		}
		return nil, nil
	case "opt", "opts":
		var short, long string
		if err := args2(args, &short, &long); err != nil {
			return nil, err
		}
		values := options(c, short, long)
		switch {
		case member == "opts":
			return append([]string{}, values...), nil
		case len(values) == 0:
			return nil, nil
		}
		return values[0], nil
	case "gh_body":
		var title, files bool
		if err := args2(args, &title, &files); err != nil {
			return nil, err
		}
		return x.ghBody(title, files), nil
	case "mentions":
		var text string
		if err := arg(args, 0, &text); err != nil {
			return nil, err
		}
		names := []string{}
		for _, n := range guards.Mentions(text) {
			names = append(names, strings.ToLower(n))
		}
		return names, nil
	case "positional_after":
		var token string
		if err := arg(args, 0, &token); err != nil {
			return nil, err
		}
		if v, ok := positionalAfter(c, token); ok {
			return v, nil
		}
		return nil, nil
	case "repo_flag":
		if r := repoOf(c); r != "" {
			return []string{"--repo", r}, nil
		}
		return []string{}, nil
	case "run":
		var argv []string
		if err := arg(args, 0, &argv); err != nil {
			return nil, err
		}
		if out, ok := x.run(argv); ok {
			return out, nil
		}
		return nil, nil
	case "message":
		if text, _ := c.Message(); text != "" {
			return text, nil
		}
		return nil, nil
	case "refspecs":
		list := []map[string]any{}
		for _, r := range c.Refspecs() {
			list = append(list, map[string]any{"src": r.Source, "dst": r.Destination, "force": r.Force, "delete": r.Delete, "known": r.Known})
		}
		return list, nil
	case "branch":
		if b, ok := c.Branch(); ok {
			return b, nil
		}
		return nil, nil
	case "gh_api_posted_text":
		return x.postedText(), nil
	case "gh_input_text":
		if text, ok := x.inputText(); ok {
			return text, nil
		}
		return nil, nil
	case "target_repo_owner":
		if owner := x.repoOwner(); owner != "" {
			return owner, nil
		}
		return nil, nil
	case "committed_file":
		var name string
		if err := arg(args, 0, &name); err != nil {
			return nil, err
		}
		if text, ok := x.committedFile(name); ok {
			return text, nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("ctx has no member %q", member)
}

func arg(args []json.RawMessage, i int, into any) error {
	if i >= len(args) {
		return errors.New("an argument is missing")
	}
	if err := json.Unmarshal(args[i], into); err != nil {
		return errors.New("an argument has the wrong type")
	}
	return nil
}

func args2(args []json.RawMessage, a, b any) error {
	if err := arg(args, 0, a); err != nil {
		return err
	}
	return arg(args, 1, b)
}

// override reports whether one of the names, or an override of the product,
// lets the command pass. A name in the command itself counts as far as the
// configuration lets it.
func (x *context) override(names []string) bool {
	x.overrides = appendNew(x.overrides, names)
	names = append([]string{"AGENT_GUARD_OFF", "MAGPIE_GUARD_OFF"}, names...)
	for _, name := range names {
		get := x.call.HookEnv
		if x.call.Inline() == guards.InlineAllow {
			get = x.call.Getenv
		}
		if v, ok := get(name); ok && guards.Truthy(v) {
			return true
		}
	}
	return false
}

func ghSubcommand(c *guards.Call) (group, sub string, ok bool) {
	if c.GH == nil || len(c.GH.Command) == 0 {
		return "", "", false
	}
	switch {
	case len(c.GH.Command) > 1:
		return c.GH.Command[0], c.GH.Command[1], true
	case len(c.GH.Operands) > 0:
		return c.GH.Command[0], c.GH.Operands[0].Value, true
	}
	return "", "", false
}

// options are the values of -x and --xxx, in order: by the grammar of git and
// gh, and for other programs as the words stand.
func options(c *guards.Call, short, long string) []string {
	name := strings.TrimPrefix(long, "--")
	letter := strings.TrimLeft(short, "-")
	var values []string
	switch {
	case c.GH != nil:
		for _, f := range c.GH.Flags {
			if name != "" && f.Name == name || letter != "" && f.Name == letter {
				values = append(values, word(f.Value))
			}
		}
	case c.Git != nil:
		for _, o := range c.Git.Options {
			if o.Has && !o.Unset && (name != "" && o.Name == name || letter != "" && o.Name == letter) {
				values = append(values, word(o.Value))
			}
		}
	}
	if len(values) > 0 {
		return values
	}
	for i, w := range c.Args {
		for _, flag := range [...]string{short, long} {
			if flag == "" || !strings.HasPrefix(flag, "-") {
				continue
			}
			if w.Value == flag && i+1 < len(c.Args) {
				values = append(values, word(c.Args[i+1]))
				break
			}
			if v, ok := strings.CutPrefix(word(w), flag+"="); ok {
				values = append(values, v)
				break
			}
		}
	}
	return values
}

func word(w shellcmd.Word) string {
	return guards.Words(&shellcmd.Command{Args: []shellcmd.Word{w}})[0]
}

func (x *context) ghBody(title, files bool) string {
	c := x.call
	var parts []string
	if v := options(c, "-b", "--body"); len(v) > 0 && v[0] != "" {
		parts = append(parts, v[0])
	}
	if title {
		if v := options(c, "-t", "--title"); len(v) > 0 && v[0] != "" {
			parts = append(parts, v[0])
		}
	}
	if files && c.GH != nil {
		f, ok := c.GH.Flag("body-file")
		if !ok {
			f, ok = c.GH.Flag("notes-file") // the -F of gh release
		}
		if ok && f.Value.Value != "" {
			text, known := c.ReadFile(f.Value)
			switch {
			case known:
				parts = append(parts, text)
			case f.Value.Value != "-" || !f.Value.Static:
				parts = append(parts, text+unreadable)
			case text != "":
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "\n")
}

func repoOf(c *guards.Call) string {
	if c.GH != nil {
		return c.GH.Repo()
	}
	if v := options(c, "-R", "--repo"); len(v) > 0 {
		return v[0]
	}
	return ""
}

// positionalAfter is the first operand behind a subcommand.
func positionalAfter(c *guards.Call, token string) (string, bool) {
	at := slices.IndexFunc(c.Args, func(w shellcmd.Word) bool { return w.Static && w.Value == token })
	switch {
	case c.GH != nil && len(c.GH.Command) > 0 && (at > 0 || slices.Contains(c.GH.Command, token)):
		if len(c.GH.Operands) > 0 {
			return word(c.GH.Operands[0]), true
		}
		return "", false
	case c.Git != nil && (token == c.Git.Name || token == c.Git.Sub):
		if len(c.Git.Operands) > 0 {
			return word(c.Git.Operands[0]), true
		}
		return "", false
	case at < 0:
		return "", false
	}
	for i := at + 1; i < len(c.Args); i++ {
		w := word(c.Args[i])
		switch {
		case !strings.HasPrefix(w, "-"):
			return w, true
		case !strings.Contains(w, "="):
			i++ // its value, as far as anyone can tell
		}
	}
	return "", false
}

// postedText is every text that a writing gh api call sends, and whether all of
// it could be read; nil for any other command.
func (x *context) postedText() any {
	c := x.call
	if c.GH == nil {
		return nil
	}
	r, ok := c.GH.API()
	if !ok || r.Method == "GET" {
		return nil
	}
	texts := []string{}
	readable := true
	for _, f := range r.Fields {
		if name, isFile := f.Value.After("@"); isFile && !f.Raw {
			text, known := c.ReadFile(name)
			readable = readable && known
			texts = append(texts, text)
			continue
		}
		readable = readable && f.Value.Static
		texts = append(texts, word(f.Value))
	}
	if r.HasInput {
		raw, known := c.ReadFile(r.Input)
		list, ok := jsonStrings(raw)
		readable = readable && known && ok
		texts = append(texts, list...)
	}
	return []any{texts, readable}
}

// inputText is the request body of gh api --input, if it is known.
func (x *context) inputText() (string, bool) {
	if x.call.GH == nil {
		return "", false
	}
	f, ok := x.call.GH.Flag("input")
	if !ok {
		return "", false
	}
	text, known := x.call.ReadFile(f.Value)
	return text, known && text != ""
}

// jsonStrings is every string value in a JSON text.
func jsonStrings(raw string) ([]string, bool) {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var out []string
	var open []bool // true: an object
	key := false    // the next string is a name
	for len(open) < 256 {
		tok, err := dec.Token()
		if err != nil {
			return out, len(open) == 0 && len(raw) > 0 && !dec.More()
		}
		inObject := len(open) > 0 && open[len(open)-1]
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				open = append(open, v == '{')
			default:
				open = open[:len(open)-1]
			}
			key = len(open) > 0 && open[len(open)-1]
			continue
		case string:
			if !key {
				out = append(out, v)
			}
		}
		key = inObject && !key
	}
	return out, false
}

func (x *context) repoOwner() string {
	if r := repoOf(x.call); r != "" {
		parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(r, "https://"), ".git"), "/")
		if len(parts) < 2 {
			return ""
		}
		return strings.ToLower(parts[len(parts)-2])
	}
	out, ok := x.run([]string{"gh", "repo", "view", "--json", "owner", "--jq", ".owner.login"})
	if !ok {
		return ""
	}
	return strings.ToLower(out)
}

// committedFile is a file of the project that is the same on disk and in the
// last commit: what an agent cannot simply write.
func (x *context) committedFile(name string) (string, bool) {
	c := x.call
	if c.Place.Unknown || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", false
	}
	root, ok := c.World().Root(c.Place.Dir)
	if !ok {
		return "", false
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if st := c.World().Stat(path); !st.Exists || st.Link || st.Dir {
		return "", false
	}
	data, ok := c.World().ReadFile(path, maxFile)
	if !ok {
		return "", false
	}
	committed, ok := c.World().Git(guards.Place{Dir: root}, "show", "HEAD:"+name)
	if !ok || strings.TrimSpace(committed) != strings.TrimSpace(string(data)) {
		return "", false
	}
	return string(data), true
}

const maxRun = 1 << 20 // bytes of output of ctx.run

// run runs a program where the command would run, without a shell, and returns
// its output. git and gh go through the hook's own memory of the machine. ok is
// false when the place is not known, it fails, or it takes too long.
func (x *context) run(argv []string) (string, bool) {
	if len(argv) == 0 || argv[0] == "" || x.call.Place.Unknown {
		return "", false
	}
	place := x.call.Place
	switch argv[0] {
	case "git":
		if len(argv) < 2 {
			return "", false
		}
		out, ok := x.call.World().Git(place, argv[1:]...)
		return strings.TrimSpace(out), ok
	case "gh":
		out, ok := x.call.World().GH(place, argv[1:]...)
		return strings.TrimSpace(out), ok
	}
	path, ok := lookPath(argv[0], x.set.opts.getenv("PATH"))
	if !ok {
		return "", false
	}
	ctx, cancel := stdctx.WithDeadline(stdctx.Background(), x.deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Dir = place.Dir
	// A guard that runs a guarded wrapper would be asked about its own command.
	cmd.Env = append(append([]string{}, x.set.opts.Environ...), "AGENT_GUARD_OFF=1")
	out := &head{max: maxRun}
	cmd.Stdout = out
	cmd.WaitDelay = 200 * time.Millisecond
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd); return nil }
	err := cmd.Run()
	return strings.TrimSpace(string(out.data)), err == nil && !out.over
}

// head keeps the first bytes and swallows the rest.
type head struct {
	data []byte
	max  int
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.max - len(h.data)
	h.over = h.over || len(p) > room
	h.data = append(h.data, p[:min(len(p), room)]...)
	return len(p), nil
}

// lookPath finds a program on PATH. Relative entries do not count: the
// directory is the agent's. An absolute name is taken as it is.
func lookPath(name, path string) (string, bool) {
	dirs := filepath.SplitList(path)
	if filepath.IsAbs(name) {
		dirs = []string{""}
	} else if strings.ContainsAny(name, `/\`) {
		return "", false
	}
	for _, dir := range dirs {
		if dir != "" && !filepath.IsAbs(dir) || dir == "" && !filepath.IsAbs(name) {
			continue
		}
		for _, suffix := range append([]string{""}, executableSuffixes...) {
			p := filepath.Join(dir, name) + suffix
			if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && (fi.Mode()&0o111 != 0 || suffix != "") {
				return p, true
			}
		}
	}
	return "", false
}
