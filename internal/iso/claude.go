package iso

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// claudeGrammar is Claude Code's, as `claude --help` of 2.1.332 shows it, with
// the options that the help leaves out.
var claudeGrammar = grammar{
	required: []string{
		"--add-dir", "--agent", "--agents", "--allowedTools", "--allowed-tools", "--append-system-prompt",
		"--append-system-prompt-file", "--autocompact", "--betas", "--debug-file", "--disallowedTools",
		"--disallowed-tools", "--effort", "--environment", "--fallback-model", "--file", "--input-format",
		"--json-schema", "--max-budget-usd", "--max-turns", "--mcp-config", "--model", "--name", "-n",
		"--output-format", "--permission-mode", "--permission-prompt-tool", "--permission-prompts",
		"--plugin-dir", "--plugin-url", "--remote-control-session-name-prefix", "--session-id",
		"--setting-sources", "--settings", "--system-prompt", "--system-prompt-file",
		"--system-prompt-snapshot", "--tools",
	},
	optional: []string{
		"--cloud", "-d", "--debug", "--from-pr", "--prompt-suggestions", "--remote-control",
		"-r", "--resume", "--teleport", "-w", "--worktree",
	},
	variadic: []string{
		"--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--disallowedTools", "--disallowed-tools",
		"--file", "--mcp-config", "--tools",
	},
}

// maxSettings is the size that the client takes for a settings file.
const maxSettings = 2 << 20

// maxArgument is the length of one argument that Linux takes, its end
// included; other systems bound only the sum.
const maxArgument = 128 << 10

// readPaths are the directories that Claude Code's sandbox has to let a
// session read: the root of the work tree that holds dir, and with a worktree
// option the main checkout, in which the session's new worktree will be.
func readPaths(dir string, getenv func(string) string, args []string) []string {
	repo, ok := gitdir.Find(dir, getenv)
	if !ok {
		return nil
	}
	var paths []string
	if repo.Root != "" {
		paths = append(paths, repo.Root)
	}
	worktree := slices.ContainsFunc(claudeGrammar.options(args), func(o option) bool {
		return o.name == "-w" || o.name == "--worktree"
	})
	if worktree && repo.Main != "" && !repo.Bare && repo.Main != repo.Root {
		paths = append(paths, repo.Main)
	}
	return paths
}

// userSettings finds the --settings of the person's own arguments. The client
// takes the last one only. rest are the arguments without any of them.
func userSettings(args []string) (value string, given bool, rest []string) {
	last := 0
	for _, o := range claudeGrammar.options(args) {
		if o.name != "--settings" || !o.hasValue {
			continue
		}
		value, given = o.value, true
		rest = append(rest, args[last:o.at]...)
		last = o.end
	}
	return value, given, append(rest, args[last:]...)
}

// readSettings returns the JSON object that a --settings value stands for,
// inline or in a file, read as the client reads it. base is the directory that
// the file's relative paths start from; empty for inline JSON.
func readSettings(value, dir string) (raw, base string, err error) {
	text := strings.TrimSpace(value)
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		if !json.Valid([]byte(text)) {
			return "", "", errors.New("not valid JSON")
		}
		return text, "", nil
	}
	if value == "" {
		// As good as none to the client.
		return "{}", "", nil
	}
	file := value
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	data, err := regularfile.Read(file, maxSettings)
	if err != nil {
		return "", "", errors.New(reason(err))
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err := checkObject(data); err != nil {
		return "", "", err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return string(data), filepath.Dir(file), nil
}

// checkObject reports what is wrong with a text that should be a JSON object.
// The standard library's parser bounds the depth by itself.
func checkObject(data []byte) error {
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			before := data[:min(max(int(syntax.Offset)-1, 0), len(data))]
			return fmt.Errorf("not valid JSON at line %d, column %d: %w", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'), err)
		}
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if data[0] != '{' {
		return errors.New("not a JSON object")
	}
	return nil
}

// addAllowRead adds paths to sandbox.filesystem.allowRead of a settings object
// and returns the object and the paths that were not there already. Everything
// else keeps its bytes.
func addAllowRead(raw string, paths []string) (merged string, added []string, err error) {
	merged, err = setIn(raw, []string{"sandbox", "filesystem", "allowRead"}, func(old gjson.Result) (string, error) {
		if old.Exists() && !old.IsArray() {
			return "", errors.New("sandbox.filesystem.allowRead is not a list")
		}
		var entries, have []string
		for _, e := range old.Array() {
			entries = append(entries, e.Raw)
			have = append(have, e.String())
		}
		for _, p := range paths {
			if !slices.Contains(have, p) {
				entries = append(entries, quote(p))
				added = append(added, p)
			}
		}
		return "[" + strings.Join(entries, ",") + "]", nil
	})
	return merged, added, err
}

// setIn replaces the value at a path of keys in a JSON object by what edit
// makes of it, and makes the objects on the way there. Where an object names a
// key twice the last one counts, as in JavaScript, and the others go.
func setIn(raw string, keys []string, edit func(old gjson.Result) (string, error)) (string, error) {
	object := gjson.Parse(raw)
	if !object.IsObject() {
		return "", fmt.Errorf("%s is not an object", keys[0])
	}
	type member struct{ key, value string }
	var members []member
	var old gjson.Result
	at := -1
	object.ForEach(func(k, v gjson.Result) bool {
		if k.String() != keys[0] {
			members = append(members, member{k.Raw, v.Raw})
			return true
		}
		if at >= 0 {
			members = slices.Delete(members, at, at+1)
		}
		at, old = len(members), v
		members = append(members, member{k.Raw, v.Raw})
		return true
	})
	value, err := "", error(nil)
	switch {
	case len(keys) == 1:
		value, err = edit(old)
	case old.Exists() && !old.IsObject():
		err = fmt.Errorf("%s is not an object", keys[0])
	case old.Exists():
		value, err = setIn(old.Raw, keys[1:], edit)
	default:
		value, err = setIn("{}", keys[1:], edit)
	}
	if err != nil {
		return "", err
	}
	if at >= 0 {
		members[at].value = value
	} else {
		members = append(members, member{quote(keys[0]), value})
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(m.key + ":" + m.value)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// anchor makes the paths of a settings file that the client resolves against
// the file's directory absolute, so that they mean the same without the file:
// rules such as Read(/x), and relative paths of the sandbox. What has another
// shape than the client expects is left for it to refuse.
func anchor(raw, base string) string {
	base = filepath.ToSlash(base)
	edit := func(edit func(gjson.Result) (string, error), keys ...string) {
		if edited, err := setIn(raw, keys, edit); err == nil {
			raw = edited
		}
	}
	rules := editArray(func(e gjson.Result) string {
		return editString(e, func(s string) string { return anchorRule(s, base) })
	})
	for _, list := range []string{"allow", "ask", "deny"} {
		edit(rules, "permissions", list)
	}
	paths := editArray(func(e gjson.Result) string {
		return editString(e, func(s string) string { return anchorPath(s, base) })
	})
	for _, list := range []string{"allowRead", "denyRead", "allowWrite", "denyWrite"} {
		edit(paths, "sandbox", "filesystem", list)
	}
	edit(editArray(func(e gjson.Result) string {
		entry, err := setIn(e.Raw, []string{"path"}, func(old gjson.Result) (string, error) {
			if old.Type != gjson.String {
				return "", errShape
			}
			return quote(anchorPath(old.String(), base)), nil
		})
		if err != nil {
			return e.Raw
		}
		return entry
	}), "sandbox", "credentials", "files")
	return raw
}

// errShape keeps an edit from touching a value of an unexpected type.
var errShape = errors.New("another type than expected")

// editArray maps the elements of an array.
func editArray(f func(e gjson.Result) string) func(old gjson.Result) (string, error) {
	return func(old gjson.Result) (string, error) {
		if !old.IsArray() {
			return "", errShape
		}
		var entries []string
		for _, e := range old.Array() {
			entries = append(entries, f(e))
		}
		return "[" + strings.Join(entries, ",") + "]", nil
	}
}

// editString maps a string and keeps the spelling of what does not change.
func editString(e gjson.Result, f func(string) string) string {
	if e.Type == gjson.String && f(e.String()) != e.String() {
		return quote(f(e.String()))
	}
	return e.Raw
}

// anchorRule makes the "/x" of a Read or Edit rule, which means x below the
// settings file, absolute, which is written "//x".
func anchorRule(rule, base string) string {
	tool, spec, ok := strings.Cut(rule, "(/")
	if !ok || tool != "Read" && tool != "Edit" || strings.HasPrefix(spec, "/") {
		return rule
	}
	return tool + "(/" + rulePath(base) + "/" + spec
}

// rulePath is an absolute path in the spelling of rules: "C:/x" is "/c/x".
func rulePath(p string) string {
	if len(p) >= 2 && p[1] == ':' {
		return "/" + strings.ToLower(p[:1]) + p[2:]
	}
	return p
}

func anchorPath(p, base string) string {
	if p == "" || p[0] == '/' || p[0] == '~' || filepath.IsAbs(p) {
		return p
	}
	return path.Join(base, p)
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// claudeArgs is what becomes of a person's arguments for Claude Code.
type claudeArgs struct {
	args     []string
	settings string   // the injected argument, empty if none
	added    []string // paths added to allowRead
	problem  string   // why something was not injected although there was reason to
	failed   bool     // nothing was injected at all
}

// A settingsInjection is what goes into the --settings argument.
type settingsInjection struct {
	paths []string // for the sandbox's allowRead
	mode  string   // settings of a sandbox mode, a JSON object; empty without
	wrap  string   // settings that another sandbox around the client needs; likewise
}

// into puts a --settings argument before the person's own arguments, merged
// with a --settings of theirs. Where theirs cannot be merged it is the client's
// business what to say about it: the arguments stay as they are.
func (in settingsInjection) into(args []string, dir string) claudeArgs {
	out := claudeArgs{args: args}
	paths := slices.DeleteFunc(slices.Clone(in.paths), func(p string) bool {
		if utf8.ValidString(p) {
			return false
		}
		out.problem = fmt.Sprintf("%q: not valid UTF-8, which JSON cannot hold; not added to sandbox allowRead", p)
		return true
	})
	if len(paths) == 0 && in.mode == "" && in.wrap == "" {
		return out
	}
	value, given, rest := userSettings(args)
	raw := "{}"
	if given {
		var base string
		var err error
		raw, base, err = readSettings(value, dir)
		switch {
		case err == nil && base != "" && in.mode != "" && sets(raw, "sandbox"):
			err = errors.New("it sets sandbox")
		case err == nil && base != "":
			raw = anchor(raw, base)
		}
		if err != nil {
			out.problem, out.failed = unmerged(value, err), true
			return out
		}
	}
	merged, added := raw, []string(nil)
	var err error
	if len(paths) > 0 {
		merged, added, err = addAllowRead(merged, paths)
	}
	for _, ours := range []string{in.mode, in.wrap} {
		if err == nil && ours != "" {
			merged, err = mergeSettings(merged, gjson.Parse(ours))
		}
	}
	if err == nil && runtime.GOOS == "linux" && len(merged) >= maxArgument {
		err = fmt.Errorf("%d KiB, more than one argument can hold", len(merged)>>10)
	}
	if err != nil {
		out.problem, out.failed = unmerged(value, err), true
		return out
	}
	if len(added) == 0 && in.mode == "" && in.wrap == "" {
		return out
	}
	out.settings, out.added = merged, added
	out.args = append([]string{"--settings", merged}, rest...)
	return out
}

// sets reports whether a JSON object has a key.
func sets(raw, key string) (found bool) {
	gjson.Parse(raw).ForEach(func(k, _ gjson.Result) bool {
		found = k.String() == key
		return !found
	})
	return found
}

func unmerged(value string, err error) string {
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		value = "JSON"
	}
	return fmt.Sprintf("--settings %s: %v", value, err)
}

// dropWorktree removes the words that ask Claude Code for a worktree from
// another CLI's arguments, up to "--". The word after them stays.
func dropWorktree(args []string) (rest, removed []string) {
	for i, arg := range args {
		if arg == "--" {
			return append(rest, args[i:]...), removed
		}
		if arg == "-w" || arg == "--worktree" || strings.HasPrefix(arg, "-w=") || strings.HasPrefix(arg, "--worktree=") {
			removed = append(removed, arg)
			continue
		}
		rest = append(rest, arg)
	}
	return rest, removed
}
