package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/internal/gitdir"
	"sallyport/internal/projectroot"
	"sallyport/internal/setup"
)

const localFix = "run agent-setup project-root --all-worktrees in a terminal"

func worktreeChecks() []Check {
	return []Check{{
		ID: "V08", Title: "worktrees",
		Pass: "the local settings that the client reads list every worktree by its absolute path, for reading and writing; with --live, inside the sandbox, .git/HEAD can be read and a file written",
		Fail: "one is not listed, a read or write fails, or sandboxed commands cannot read the account's shared hook directory",
		Warn: "a worktree's directory is gone, a path that tools need is not listed, git does not ignore the file, or a hook of the shared directory is missing or not executable",
		NA:   "not a git repository",
		run:  worktrees, inside: true,
	}, {
		ID: "V08b", Title: "hook scope",
		Pass: "says whether new worktrees are listed for this repository or for the whole account, and by which hooks",
		Warn: "the account's hooks are of the plain flavour, or this repository has hooks that git does not run",
		NA:   "neither is set up: new worktrees are listed by hand",
		run:  hookScope,
	}}
}

func worktrees(m *Machine) []Finding {
	if !m.Repository {
		return []Finding{{Text: "not a git repository"}}
	}
	var out []Finding
	report := projectroot.Run(projectroot.Options{
		Dir: m.Project, Environ: m.Environ(), AllWorktrees: true, Check: true, Managed: m.env.ManagedDir,
		ClientVersion: func() string { return m.Version },
	})
	for _, p := range report.Problems {
		f := Finding{Status: Fail, Text: p.Message, File: p.Path, Fix: localFix}
		if strings.HasPrefix(p.Message, "it is not ignored by git") || strings.HasPrefix(p.Message, "it is tracked by git") {
			f.Status, f.Fix = Warn, "run agent-setup project, which adds the line to .gitignore"
		}
		out = append(out, f)
	}
	for _, file := range report.Files {
		if len(file.Added) == 0 {
			out = append(out, Finding{Status: Pass, Text: "lists " + strings.Join(file.Worktrees, ", "), File: file.Path})
			continue
		}
		var roots, others []string
		for _, e := range file.Added {
			text := e.List[strings.LastIndexByte(e.List, '.')+1:] + " " + e.Value
			if slices.Contains(file.Worktrees, e.Value) {
				roots = append(roots, text)
			} else {
				others = append(others, text)
			}
		}
		if len(roots) > 0 {
			out = append(out, Finding{Status: Fail, Text: "does not list " + strings.Join(roots, ", "), File: file.Path, Fix: localFix})
		}
		if len(others) > 0 {
			out = append(out, Finding{Status: Warn, Text: "does not list " + strings.Join(others, ", "), File: file.Path, Fix: localFix})
		}
	}
	for _, n := range report.Notes {
		if strings.HasSuffix(n, "left out") { // a directory that is gone
			out = append(out, Finding{Status: Warn, Text: n, Fix: "run git worktree prune, or bring it back"})
		}
	}
	out = append(out, m.sharedHooks()...)
	if m.Live {
		out = append(out, m.liveRoot()...)
	}
	return out
}

func (m *Machine) scope() (setup.ScopeState, string, error) {
	common := ""
	if repo, ok := gitdir.Find(m.Project, nil); ok {
		common = repo.CommonDir
	}
	st, err := setup.Scope(setup.Options{Environ: m.Environ()}, common)
	return st, common, err
}

// sharedHooks looks at the hook directory of the account, if it is the suite's.
func (m *Machine) sharedHooks() (out []Finding) {
	st, _, err := m.scope()
	if err != nil || !st.Ours {
		return nil
	}
	hook := filepath.Join(st.Path, "post-checkout")
	info, err := os.Stat(hook)
	switch {
	case err != nil:
		out = append(out, Finding{Status: Warn, Text: m.Short(hook) + " is missing, so new worktrees are not listed", File: hook, Fix: "run agent-setup scope whole-user"})
	case m.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		out = append(out, Finding{Status: Warn, Text: m.Short(hook) + " is not executable, so git skips it", File: hook, Fix: "run agent-setup scope whole-user"})
	}
	closed := false
	for _, v := range m.Stack.List("sandbox.filesystem.denyRead") {
		path, ok := m.Stack.SandboxPath(v.Value, v.Source)
		closed = closed || ok && below(st.Path, path)
	}
	open := false
	for _, v := range m.Stack.List("sandbox.filesystem.allowRead") {
		path, ok := m.Stack.SandboxPath(v.Value, v.Source)
		open = open || ok && below(st.Path, path)
	}
	if closed && !open {
		out = append(out, Finding{Status: Fail, Text: "sandboxed commands cannot read " + m.Short(st.Path) + ", so git silently skips every hook there", File: st.Path,
			Fix: "run agent-setup scope whole-user, which adds it to sandbox.filesystem.allowRead"})
	}
	return out
}

func below(path, base string) bool {
	rel, err := filepath.Rel(base, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// liveRoot reads and writes in the project, as a sandboxed command must be able to.
func (m *Machine) liveRoot() []Finding {
	if _, inside := m.InsideSandbox(); !inside {
		return []Finding{{Status: Warn, Text: "this does not run inside the sandbox, so reading and writing were not tried",
			Fix: "in a session, let the agent run: agent-setup verify --live --check V08"}}
	}
	var out []Finding
	repo, _ := gitdir.Find(m.Project, nil)
	head := filepath.Join(repo.GitDir, "HEAD")
	if _, err := readByte(head); err != nil {
		out = append(out, Finding{Status: Fail, Text: "cannot be read here: " + plain(err), File: head, Fix: localFix})
	} else {
		out = append(out, Finding{Status: Pass, Text: "can be read here", File: head})
	}
	f, err := os.CreateTemp(m.Project, ".agent-setup-verify-*")
	if err != nil {
		return append(out, Finding{Status: Fail, Text: "nothing can be written here: " + plain(err), File: m.Project, Fix: localFix})
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return append(out, Finding{Status: Fail, Text: "a file could be written and not removed: " + plain(err), File: f.Name(), Fix: "remove it"})
	}
	return append(out, Finding{Status: Pass, Text: "a file can be written and removed here", File: m.Project})
}

func hookScope(m *Machine) []Finding {
	st, _, err := m.scope()
	if err != nil {
		return []Finding{{Status: Warn, Text: "git's configuration cannot be asked: " + err.Error(), Fix: "run agent-setup scope status"}}
	}
	var out []Finding
	if len(st.Shadowed) > 0 {
		out = append(out, Finding{Status: Warn, Text: "this repository has hooks that git does not run: " + strings.Join(st.Shadowed, ", "),
			File: st.Path, Fix: "run agent-setup scope whole-user, whose dispatcher runs them"})
	}
	switch {
	case st.Scope == "off":
		return append(out, Finding{Text: "no hook lists new worktrees: agent-setup scope sets one up"})
	case st.Flavour == setup.FlavourSimple:
		out = append(out, Finding{Status: Warn, Text: "whole-user, plain flavour: the hooks of single repositories do not run", File: st.Path, Fix: "run agent-setup scope whole-user --flavour dispatcher"})
	case st.Scope == "whole-user":
		out = append(out, Finding{Status: Pass, Text: "whole-user, flavour " + st.Flavour, File: st.Path})
	default:
		out = append(out, Finding{Status: Pass, Text: fmt.Sprintf("%s: this repository's own hook lists new worktrees", st.Scope), File: st.Repo})
	}
	return out
}
