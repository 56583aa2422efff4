package iso

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sallyport/internal/cli"
	"sallyport/internal/iso/mode"
	"sallyport/internal/regularfile"
)

const (
	openCodeLoosens = "E-OPENCODE-LOOSENS"
	openCodeWidened = "E-OPENCODE-WIDENED"
)

// openCodeManagement are sub-commands that start no agent and know no --agent.
var openCodeManagement = []string{
	"completion", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "models",
	"stats", "export", "import", "session", "plugin", "plug", "db",
}

// openCodeServers are sub-commands whose agent another program chooses.
var openCodeServers = []string{"acp", "attach", "serve", "web", "github", "pr"}

// openCodeReadOnly are the tools that read-only leaves, and what only says
// where they may read: OpenCode always allows its own folder there.
var openCodeReadOnly = []string{"read", "grep", "glob", "list", "external_directory"}

func (p *Plan) holdOpenCode(w *cli.Process, args []string, h held) (held, error) {
	if p.mode == mode.Restricted {
		return h, p.openCodeLoosens(w, h.set["OPENCODE_PERMISSION"])
	}
	sub := ""
	if len(args) > 0 {
		sub = args[0]
	}
	if slices.Contains(openCodeServers, sub) {
		return h, refuse("E-CONFLICT", "opencode %s lets another program choose the agent, so --sandbox %s cannot be held; use opencode or opencode run", sub, p.mode)
	}
	if slices.Contains(openCodeManagement, sub) {
		h.inject = nil
	}
	// The agent's own block stands above every file, those of agents included.
	content := lookup(p.Environment.Vars, "OPENCODE_CONFIG_CONTENT")
	if strings.TrimSpace(content) == "" {
		content = "{}"
	}
	err := checkObject([]byte(content))
	if err == nil {
		content, err = setIn(content, []string{"agent", "build", "permission"}, func(gjson.Result) (string, error) {
			return h.set["OPENCODE_PERMISSION"], nil
		})
	}
	if err != nil {
		return h, refuse("E-CONFLICT", "OPENCODE_CONFIG_CONTENT: %w, so --sandbox %s cannot be added to it; correct it or do not pass it on", err, p.mode)
	}
	h.set["OPENCODE_CONFIG_CONTENT"] = content
	return h, nil
}

// openCodeResolved asks the program which rules its agent has in the end, and
// refuses where one allows more than reading. A program that does not answer
// is not asked twice.
func (p *Plan) openCodeResolved(dir string) error {
	env := append(slices.Clone(p.Environment.Vars), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1")
	out, err := probe(p.Path, []string{"debug", "agent", "build"}, env, dir, rulesTimeout)
	if err != nil {
		p.notice("opencode did not tell the rules of its agent build, so they were not checked")
		return nil
	}
	if rule := widened(out); rule != "" {
		return refuse(openCodeWidened, "the agent build still has %s, which read-only does not allow; remove it from the configuration of opencode (opencode debug agent build shows the rules)", rule)
	}
	return nil
}

// widened names a rule of an agent that allows, or would ask for, more than
// reading; the last rule that matches a tool decides.
func widened(answer []byte) string {
	if i := strings.IndexByte(string(answer), '{'); i > 0 {
		answer = answer[i:] // a warning may stand before it
	}
	if checkObject(answer) != nil {
		return ""
	}
	rules := gjson.GetBytes(answer, "permission").Array()
	denied := -1
	for i, r := range rules {
		if r.Get("permission").String() == "*" && r.Get("pattern").String() == "*" && r.Get("action").String() == "deny" {
			denied = i
		}
	}
	if denied < 0 {
		if len(rules) == 0 {
			return ""
		}
		return "no rule that denies what is not named"
	}
	rules = rules[denied+1:]
	for i, r := range rules {
		name, pattern := r.Get("permission").String(), r.Get("pattern").String()
		if r.Get("action").String() == "deny" || slices.Contains(openCodeReadOnly, name) {
			continue
		}
		later := slices.ContainsFunc(rules[i+1:], func(l gjson.Result) bool {
			return l.Get("permission").String() == name && l.Get("pattern").String() == "*" && l.Get("action").String() == "deny"
		})
		if !later {
			return name + " " + pattern + ": " + r.Get("action").String()
		}
	}
	return ""
}

// openCodeLoosens refuses where the plain "ask" of restricted would replace
// something that the person's configuration denies.
func (p *Plan) openCodeLoosens(w *cli.Process, asked string) error {
	var keys []string
	gjson.Parse(asked).ForEach(func(k, _ gjson.Result) bool {
		keys = append(keys, k.String())
		return true
	})
	check := func(source, text string, permission bool) error {
		text = stripJSONC(text)
		if !json.Valid([]byte(text)) {
			return refuse(openCodeLoosens, "%s is not valid JSON, so it cannot be told what it denies; correct it", source)
		}
		root := gjson.Parse(text)
		rules := root
		if !permission {
			rules = root.Get("permission")
			for _, key := range keys {
				if root.Get("tools."+key).Type == gjson.False {
					return loosens(source, "tools."+key)
				}
			}
		}
		if rules.Type == gjson.String && rules.String() == "deny" {
			return loosens(source, "everything")
		}
		var err error
		rules.ForEach(func(k, v gjson.Result) bool {
			matches := slices.ContainsFunc(keys, func(key string) bool { ok, _ := path.Match(k.String(), key); return ok })
			if matches && denies(v) {
				err = loosens(source, k.String())
			}
			return err == nil
		})
		return err
	}
	getenv := func(name string) string { return lookup(p.Environment.Vars, name) }
	for name, permission := range map[string]bool{"OPENCODE_PERMISSION": true, "OPENCODE_CONFIG_CONTENT": false} {
		if text := getenv(name); text != "" {
			if err := check(name, text, permission); err != nil {
				return err
			}
		}
	}
	for _, file := range openCodeFiles(w, getenv) {
		text, err := regularfile.Read(file, maxSettings)
		if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
			continue
		}
		if err != nil {
			return refuse(openCodeLoosens, "%s: %s, so it cannot be told what it denies", file, reason(err))
		}
		if err := check(file, string(text), false); err != nil {
			return err
		}
	}
	return nil
}

func loosens(source, key string) error {
	return refuse(openCodeLoosens, "%s denies %s, and restricted would only ask for it; ask for read-only, or start without --sandbox", source, key)
}

// denies reports whether a permission value denies something.
func denies(v gjson.Result) bool {
	if v.IsObject() {
		found := false
		v.ForEach(func(_, e gjson.Result) bool {
			found = found || e.String() == "deny"
			return !found
		})
		return found
	}
	return v.String() == "deny"
}

// openCodeFiles are the configuration files that OpenCode reads for a directory.
func openCodeFiles(w *cli.Process, getenv func(string) string) []string {
	var dirs, files []string
	if config := getenv("XDG_CONFIG_HOME"); config != "" {
		dirs = append(dirs, filepath.Join(config, "opencode"))
	} else {
		dirs = append(dirs, homePath(w, "~/.config/opencode"))
	}
	dirs = append(dirs, homePath(w, "~/.opencode"))
	for _, d := range upwards(w.Dir()) {
		dirs = append(dirs, d, filepath.Join(d, ".opencode"))
	}
	if d := getenv("OPENCODE_CONFIG_DIR"); d != "" {
		dirs = append(dirs, absolute(w.Dir(), d))
	}
	for _, d := range dirs {
		if d == "" {
			continue
		}
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			files = append(files, filepath.Join(d, name))
		}
	}
	files = append(files, filepath.Join(dirs[0], "config.json"))
	if f := getenv("OPENCODE_CONFIG"); f != "" {
		files = append(files, absolute(w.Dir(), f))
	}
	return files
}

// stripJSONC makes JSON of JSON with comments and trailing commas.
func stripJSONC(text string) string {
	var b strings.Builder
	text = strings.TrimPrefix(text, "\ufeff")
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			j := i + 1
			for j < len(text) && text[j] != '"' {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
			b.WriteString(text[i:j])
			i = j
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*"):
			if end := strings.Index(text[i+2:], "*/"); end >= 0 {
				i += end + 4
			} else {
				i = len(text)
			}
			b.WriteByte(' ')
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return dropTrailingCommas(b.String())
}

// dropTrailingCommas drops commas before a closing bracket, outside strings.
func dropTrailingCommas(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			j := i + 1
			for j < len(text) && text[j] != '"' {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(text))
			b.WriteString(text[i:j])
			i = j - 1
		case ',':
			rest := strings.TrimLeft(text[i+1:], " \t\r\n")
			if !strings.HasPrefix(rest, "}") && !strings.HasPrefix(rest, "]") {
				b.WriteByte(',')
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
