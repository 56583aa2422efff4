package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/guards"
	"sallyport/internal/agentguard"
	"sallyport/internal/bypass"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/hints"
	"sallyport/internal/iso"
	"sallyport/internal/setup"
	lineconfig "sallyport/internal/statusline/config"
	"sallyport/settings"
)

// fileChecks look at what stands in settings and configuration files.
func fileChecks() []Check {
	return []Check{{
		ID: "V19", Title: "sandbox keys",
		Pass: "every key below sandbox, in every file that counts, is one that the client knows",
		Fail: "a key is misspelt or stands at the wrong level, so it does nothing",
		Warn: "a key is not known",
		NA:   "no file has any",
		run:  unknownKeys,
	}, {
		ID: "V20", Title: "MCP servers",
		Pass: "the servers of the user's own configuration are listed for a look: they run outside the sandbox, in every project",
		Fail: "the program of one can be written by other accounts",
		Warn: "the file cannot be read, or the program of one is not there",
		NA:   "the user's configuration names none",
		run:  mcpServers,
	}, {
		ID: "V21", Title: "settings files",
		Pass: "every settings file that the client reads is valid, and no value stands where it does nothing",
		Fail: "the client drops a file, or a part of one, or cannot read it",
		Warn: "a value stands in a file that the client does not read, or that it ignores where it stands",
		run:  settingsFiles,
	}, {
		ID: "V22", Title: "own configuration",
		Pass: "the suite's own configuration files are valid",
		Fail: "one is broken; its program goes on as if it were not there",
		Warn: "one has a key that means nothing",
		NA:   "there are none",
		run:  ownFiles,
	}}
}

// leaves visits the values of a node that are no objects.
func leaves(n settings.Node, prefix string, f func(path string, v settings.Node)) {
	var walk func(n settings.Node, prefix string, depth int)
	walk = func(n settings.Node, prefix string, depth int) {
		n.Each(func(name string, v settings.Node) bool {
			key := prefix + name
			if v.Kind() == settings.Object && depth < 8 && v.Len() > 0 {
				walk(v, key+".", depth+1)
			} else {
				f(key, v)
			}
			return true
		})
	}
	if n.Kind() == settings.Object {
		walk(n, prefix, 0)
	}
}

func unknownKeys(m *Machine) []Finding {
	var out []Finding
	any := false
	keys := sandboxKeys()
	for _, l := range m.Stack.Layers() {
		count := 0
		leaves(l.Doc.Root().Get("sandbox"), "", func(key string, v settings.Node) {
			any = true
			count++
			if slices.ContainsFunc(keys, func(k string) bool {
				group, free := strings.CutSuffix(k, "*")
				return k == key || free && strings.HasPrefix(key+".", group) || v.Kind() == settings.Object && strings.HasPrefix(k, key+".")
			}) {
				return
			}
			f := Finding{Status: Warn, File: l.Path, Pointer: "/sandbox/" + strings.ReplaceAll(key, ".", "/"), Text: "sandbox." + key + " is not known", Fix: "remove it, or look it up in the client's documents"}
			f.Line, f.Column = v.Position()
			if slices.Contains(unconfirmedKeys(), key) {
				f.Text = "sandbox." + key + " is named in public lists only; the client's schema does not have it"
				out = append(out, f)
				return
			}
			last := key[strings.LastIndexByte(key, '.')+1:]
			if i := slices.IndexFunc(keys, func(k string) bool { return path.Base(strings.ReplaceAll(k, ".", "/")) == last }); i >= 0 {
				f.Status, f.Text, f.Fix = Fail, "sandbox."+key+" does nothing there", "the client reads sandbox."+keys[i]
			} else if near := setup.Nearest(key, keys); setup.Distance(near, key) <= 2 {
				f.Status, f.Text, f.Fix = Fail, "sandbox."+key+" is not known", "did you mean sandbox."+near+"?"
			} else if near != "" {
				f.Fix = "the nearest known key is sandbox." + near
			}
			out = append(out, f)
		})
		if count > 0 && !slices.ContainsFunc(out, func(f Finding) bool { return f.File == l.Path }) {
			out = append(out, Finding{Status: Pass, Text: fmt.Sprintf("%d sandbox keys, all known", count), File: l.Path})
		}
	}
	if !any {
		out = append(out, Finding{Text: "no file has sandbox keys"})
	}
	return out
}

func mcpServers(m *Machine) []Finding {
	file := filepath.Join(m.Home(), ".claude.json")
	if m.Getenv("CLAUDE_CONFIG_DIR") != "" {
		file = filepath.Join(m.ConfigDir(), ".claude.json")
	}
	doc, err := document(file, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{Text: m.Short(file) + " is not there"}}
	}
	if err != nil {
		f := Finding{Status: Warn, Text: err.Error(), File: file, Fix: "let the client repair it, or restore a copy from ~/.claude/backups"}
		var syntax *settings.SyntaxError
		if errors.As(err, &syntax) {
			f.Line, f.Column = syntax.Line, syntax.Column
		}
		return []Finding{f}
	}
	var out []Finding
	doc.Root().Get("mcpServers").Each(func(name string, v settings.Node) bool {
		f := Finding{Status: Pass, Text: name, File: file, Pointer: "/mcpServers/" + name}
		f.Line, f.Column = v.Position()
		command, local := v.Get("command").Text()
		if address, ok := v.Get("url").Text(); ok && !local {
			f.Text += ": " + withoutSecrets(address)
			out = append(out, f)
			return true
		}
		f.Text += ": runs " + command
		program := m.Expand(command)
		if !strings.ContainsAny(program, `/\`) {
			program = m.LookPath(program)
		}
		info, err := os.Stat(program)
		switch {
		case err != nil || !info.Mode().IsRegular():
			f.Status, f.Text, f.Fix = Warn, f.Text+", which is not there", "remove the server, or install its program"
		case m.GOOS != "windows" && info.Mode().Perm()&0o002 != 0:
			f.Status, f.Text, f.Fix = Fail, f.Text+", which every account may change", "chmod o-w "+m.Short(program)
		}
		out = append(out, f)
		return true
	})
	if len(out) == 0 {
		out = append(out, Finding{Text: "no server", File: file})
	}
	return out
}

// withoutSecrets is an address without what may be a token.
func withoutSecrets(address string) string {
	address, _, _ = strings.Cut(address, "?")
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			rest = rest[i+1:]
		}
		address = scheme + "://" + rest
	}
	return address
}

func settingsFiles(m *Machine) []Finding {
	var out []Finding
	for _, p := range m.Stack.Problems() {
		out = append(out, at(Finding{Status: Fail, Text: p.Message, Fix: "repair the file"}, p.Source))
	}
	for _, f := range m.Stack.Files() {
		switch f.Status {
		case settings.NotRead:
			if keys, line := m.saysSomething(f.Path); keys != "" {
				out = append(out, Finding{Status: Warn, Text: keys + " do nothing: " + f.Reason, File: f.Path, Line: line, Fix: "move what is meant into a file that counts; agent-setup explain KEY lists them"})
			}
		case settings.Read:
			if f.Reason == "" {
				out = append(out, Finding{Status: Pass, Text: "valid", File: f.Path})
			}
		}
	}
	paths := []string{"permissions.defaultMode", "permissions.allow", "permissions.additionalDirectories", "disableAllHooks"}
	for _, k := range sandboxKeys() {
		paths = append(paths, "sandbox."+strings.TrimSuffix(k, ".*"))
	}
	for _, key := range paths {
		for _, v := range m.Stack.Ignored(key) {
			out = append(out, at(Finding{Status: Warn, Text: fmt.Sprintf("%s %s does nothing here: %s", key, setup.Printable(key, v.Value), v.Reason),
				Pointer: "/" + strings.ReplaceAll(key, ".", "/"), Fix: "move it into a file where it counts, or remove it"}, v.Source))
		}
	}
	if len(out) == 0 {
		out = append(out, Finding{Status: Pass, Text: "there is no settings file"})
	}
	return out
}

// saysSomething names the safety keys of a file, with the line of the first.
func (m *Machine) saysSomething(file string) (keys string, line int) {
	doc, err := document(file, maxSettings)
	if err != nil {
		return "", 0
	}
	var names []string
	for _, top := range []string{"sandbox", "permissions", "hooks"} {
		leaves(doc.Root().Get(top), top+".", func(key string, v settings.Node) {
			if line == 0 {
				line, _ = v.Position()
			}
			names = append(names, key)
		})
	}
	if len(names) > 4 {
		names = append(names[:4], fmt.Sprintf("%d more", len(names)-4))
	}
	return strings.Join(names, ", "), line
}

func ownFiles(m *Machine) []Finding {
	dir := dirs.Config(m.Getenv)
	if dir == "" {
		return []Finding{{Text: "there is no place for them"}}
	}
	var out []Finding
	file := func(name string, look func(path string) []Finding) {
		full := filepath.Join(dir, name)
		if !exists(full) {
			return
		}
		found := look(full)
		if len(found) == 0 {
			found = []Finding{{Status: Pass, Text: "valid"}}
		}
		for _, f := range found {
			if f.File == "" {
				f.File = full
			}
			if f.Status == Fail {
				f.Fix = "repair it; until then its program goes on without it"
			}
			out = append(out, f)
		}
	}
	file("bypass-warn.toml", func(path string) []Finding {
		if _, err := bypass.LoadConfig(path); err != nil {
			return []Finding{placed(path, err.Error())}
		}
		return nil
	})
	file("status-line.toml", func(path string) (found []Finding) {
		_, problems := lineconfig.Load(path)
		for _, e := range problems {
			f := Finding{Status: Fail, Text: e.Msg, Line: e.Line}
			if e.Unknown {
				f.Status, f.Fix = Warn, "remove it"
			}
			found = append(found, f)
		}
		return found
	})
	guard := func(path string) (found []Finding) {
		root := ""
		if repo, ok := gitdir.Find(m.Project, nil); ok {
			root = repo.Root
		}
		c := agentguard.LoadConfig(m.Getenv, root, guards.Bundled(), nil)
		for _, p := range c.Problems {
			if p.File == path {
				found = append(found, placed(path, p.Error()))
			}
		}
		return found
	}
	file("guard.toml", guard)
	file("iso.toml", func(string) []Finding {
		_, err := iso.LoadConfig(m.Getenv)
		var bad *iso.ConfigError
		switch {
		case errors.As(err, &bad):
			return []Finding{{Status: Fail, Text: bad.Msg, Line: bad.Line, Column: bad.Column}}
		case err != nil:
			return []Finding{{Status: Fail, Text: err.Error()}}
		}
		return nil
	})
	file("hints.d", func(path string) (found []Finding) {
		for _, p := range hints.Load(path).Problems {
			f := placed(p.Path, p.Error())
			f.File = p.Path
			found = append(found, f)
		}
		return found
	})
	if path := agentguard.RepositoryFile(m.Project); path != "" && exists(path) {
		found := guard(path)
		if len(found) == 0 {
			found = []Finding{{Status: Pass, Text: "valid"}}
		}
		for _, f := range found {
			f.File = path
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		out = append(out, Finding{Text: "there are none in " + m.Short(dir)})
	}
	return out
}

// placed reads "path:line:column: text", the form of the suite's own errors.
func placed(file, text string) Finding {
	f := Finding{Status: Fail}
	rest, ok := strings.CutPrefix(text, file)
	if !ok {
		f.Text = text
		return f
	}
	if n, err := fmt.Sscanf(rest, ":%d:%d:", &f.Line, &f.Column); n >= 1 && (err == nil || n == 1) {
		for range n {
			_, rest, _ = strings.Cut(rest[1:], ":")
			rest = ":" + rest
		}
	}
	f.Text = strings.TrimLeft(rest, ": ")
	return f
}
