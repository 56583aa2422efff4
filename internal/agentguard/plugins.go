package agentguard

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/guards"
	"sallyport/guards/plugin"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/guardcases"
	"sallyport/internal/term"
	"sallyport/internal/trust"
)

func pluginOptions(p *cli.Process, dir string) plugin.Options {
	return plugin.Options{
		ConfigDir: dirs.Config(p.Getenv), StateDir: dirs.State(p.Getenv),
		Dir: dir, Executable: ownPath(), Environ: p.Environ, Debugf: p.Debugf,
	}
}

// addPlugins adds the guards from files to those of the session.
func (s *session) addPlugins() {
	s.plugins = plugin.Load(pluginOptions(s.p, s.dir), s.all)
	s.all = append(slices.Clip(s.all), s.plugins.Guards...)
	for _, problem := range s.plugins.Problems {
		s.p.Debugf("guards: %v", problem)
	}
	for _, dir := range s.plugins.Untrusted {
		s.p.Debugf("guards: %s is not trusted", dir)
	}
}

// settlePlugins tells them what the configuration says.
func (s *session) settlePlugins() {
	s.plugins.OnError(map[OnError]guards.Verdict{ErrorAsk: guards.Ask, ErrorDeny: guards.Deny}[s.config.OnError])
}

// close ends what the session started.
func (s *session) close() { s.plugins.Close() }

// trusted reports whether a person trusts this content of a repository's
// configuration.
func trusted(p *cli.Process) func(path string, data []byte) bool {
	return func(path string, data []byte) bool {
		repo, ok := gitdir.Find(filepath.Dir(path), nil)
		if !ok {
			return false
		}
		return trust.In(dirs.State(p.Getenv)).Trusted(trust.KeyOf(&repo, path), configFiles(path, data))
	}
}

func configFiles(path string, data []byte) []trust.File {
	return []trust.File{{Name: filepath.Base(path), Data: data}}
}

// broken loads every guard file whole, for a list that tells all of it, and
// returns what is wrong with each by the guard's name: now, else when it last ran.
func (s *session) broken() map[string]string {
	out := map[string]string{}
	failures := plugin.Failures(dirs.State(s.p.Getenv))
	for _, l := range s.plugins.Describe() {
		if l.Err != nil {
			out[l.Guard.Name] = l.Err.Error()
			continue
		}
		for _, c := range l.Cases {
			l.Guard.Examples = append(l.Guard.Examples, guards.Example{Command: c.Command, Setup: c.Setup, Verdict: c.Expect, Why: c.Why})
		}
		if f, ok := failures[l.Guard.Source]; ok {
			out[l.Guard.Name] = fmt.Sprintf("%s: failed on %s: %s", l.Guard.Source, f.Time.Format("2006-01-02 15:04 MST"), f.Error)
		}
	}
	return out
}

// pluginProblems are the files and directories that do not count.
func (s *session) pluginProblems() []string {
	var lines []string
	for _, problem := range s.plugins.Problems {
		lines = append(lines, problem.String())
	}
	for _, dir := range s.plugins.Untrusted {
		lines = append(lines, dir+": not trusted, so its guards do not count; read them, then run agent-guard trust "+quoteAll([]string{dir}))
	}
	return lines
}

// isGuardFile reports whether a file for test is a guard, not a case file.
func isGuardFile(name string) bool {
	switch filepath.Ext(name) {
	case ".toml", ".star", ".py":
		return true
	}
	return false
}

// pluginCases are the inline cases of guard files as cases of the laboratory.
// broken are lines that say which files do not load.
func pluginCases(set *plugin.Set) (cases []guardcases.Case, broken []string) {
	for _, l := range set.Describe() {
		if l.Err != nil {
			broken = append(broken, l.Err.Error())
			continue
		}
		for i, c := range l.Cases {
			cases = append(cases, guardcases.Case{
				ID:      fmt.Sprintf("%s-%02d", l.Guard.Name, i+1),
				Command: c.Command, Dir: c.Cwd, Setup: caseSetup(&c), Expect: c.Expect.String(), Why: c.Why,
				Guards: []string{l.Guard.Name},
			})
		}
	}
	return cases, broken
}

// caseSetup writes a case's surroundings as lines that the laboratory reads.
func caseSetup(c *plugin.Case) string {
	var b strings.Builder
	for _, name := range sortedKeys(c.Env) {
		fmt.Fprintf(&b, "env:%s=%s\n", name, strings.ReplaceAll(c.Env[name], "\n", " "))
	}
	if c.Cwd != "" {
		fmt.Fprintf(&b, "mkdir -p %s\n", quoteAll([]string{c.Cwd}))
	}
	if c.Branch != "" {
		fmt.Fprintf(&b, "git checkout -q -B %s\n", quoteAll([]string{c.Branch}))
	}
	for _, name := range sortedKeys(c.Files) {
		fmt.Fprintf(&b, "mkdir -p %s\nprintf %%s %s > %s\n",
			quoteAll([]string{filepath.ToSlash(filepath.Dir(name))}), quoteLine(c.Files[name]), quoteAll([]string{name}))
	}
	return b.String() + c.Setup
}

// quoteLine quotes text for the shell on one line, since the laboratory reads
// its setup by lines.
func quoteLine(s string) string {
	parts := strings.Split(s, "\n")
	for i, p := range parts {
		parts[i] = quoteAll([]string{p})
	}
	return strings.Join(parts, `$'\n'`)
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func cleanLine(s string) string { return term.Clean(s, 400) }
