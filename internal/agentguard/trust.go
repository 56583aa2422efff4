package agentguard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rogpeppe/go-internal/diff"

	"sallyport/guards/plugin"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/term"
	"sallyport/internal/trust"
)

// TrustOptions are the flags of trust.
type TrustOptions struct {
	Show   bool // only print
	Revoke bool
	Yes    bool // answer the question
}

// A candidate is something of a repository that a person can trust.
type candidate struct {
	path     string
	key      trust.Key
	files    []trust.File
	problems []plugin.Problem
	before   trust.Record
	known    bool // there is a record
	trusted  bool // of exactly these files
}

// Trust shows what a repository adds to the guards, and records that a person
// trusts it as it is.
func Trust(p *cli.Process, o TrustOptions, words []string) error {
	switch {
	case len(words) > 1:
		return cli.Usagef("trust takes one directory")
	case o.Show && o.Revoke, o.Yes && (o.Show || o.Revoke):
		return cli.Usagef("--show, --revoke and --yes exclude each other")
	}
	dir := p.Dir()
	if len(words) == 1 {
		dir = words[0]
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Dir(), dir)
		}
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return cli.Exitf(cli.ExitInput, "%s is no directory", cleanLine(dir))
	}
	store := trust.In(dirs.State(p.Getenv))
	all := candidates(store, dir)
	if o.Revoke {
		return revoke(p, store, all)
	}
	open := 0
	for i := range all {
		c := &all[i]
		c.print(p.Stdout)
		if !c.trusted {
			open++
		}
	}
	switch {
	case len(all) == 0:
		return cli.Exitf(cli.ExitInput, "%s brings no guards and no guard.toml", cleanLine(dir))
	case o.Show && open > 0:
		return &cli.ExitError{Code: cli.ExitFindings}
	case o.Show || open == 0:
		return nil
	}
	for _, c := range all {
		if len(c.problems) > 0 {
			return cli.Exitf(cli.ExitRefused, "%s cannot be trusted: %s", cleanLine(c.path), cleanLine(c.problems[0].String()))
		}
	}
	// An agent that could say yes would be its own judge. It has no terminal; a
	// person in a terminal that an agent's environment reaches has one.
	if name := agentVariable(p); name != "" && !hasTerminal(p) {
		return cli.Exitf(cli.ExitRefused, "%s is set, so this runs inside an agent's session; trust is given by a person in a terminal of their own", name)
	}
	if !o.Yes {
		yes, err := confirm(p, "Let these files judge commands on this machine? Guards in Python can do what you can. [y/N] ")
		if err != nil {
			return err
		}
		if !yes {
			return cli.Exitf(cli.ExitFindings, "nothing was trusted")
		}
	}
	for i := range all {
		c := &all[i]
		if c.trusted {
			continue
		}
		// What was shown is what is recorded; nothing is read again.
		if err := store.Trust(c.key, c.files, time.Now()); err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
		fmt.Fprintf(p.Stdout, "trusted %s\n", cleanLine(c.path))
	}
	return nil
}

func revoke(p *cli.Process, store trust.Store, all []candidate) error {
	n := 0
	for i := range all {
		ok, err := store.Revoke(all[i].key)
		if err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
		if ok {
			n++
			fmt.Fprintf(p.Stdout, "no longer trusted: %s\n", cleanLine(all[i].path))
		}
	}
	if n == 0 {
		fmt.Fprintln(p.Stdout, "nothing there was trusted")
	}
	return nil
}

// agentVariable is a variable that a client sets for the commands of its agent.
func agentVariable(p *cli.Process) string {
	for _, name := range [...]string{"CLAUDECODE", "CLAUDE_PID", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_SESSION_ID", "COPILOT_CLI", "GEMINI_CLI", "QWEN_CODE", "CURSOR_AGENT", "OPENCODE"} {
		if p.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

func hasTerminal(p *cli.Process) bool {
	f, ok := p.Stdin.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

func confirm(p *cli.Process, question string) (bool, error) {
	if !hasTerminal(p) {
		return false, cli.Exitf(cli.ExitRefused, "there is no terminal to ask at; --yes answers")
	}
	fmt.Fprint(p.Stdout, question)
	line, _ := bufio.NewReader(io.LimitReader(p.Stdin, 100)).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// candidates are what can be trusted at dir: the guards and the configuration
// of its repository, or dir itself where it is a directory of guards.
func candidates(store trust.Store, dir string) []candidate {
	repo, inRepo := gitdir.Find(dir, nil)
	var all []candidate
	add := func(path string, files []trust.File, problems []plugin.Problem) {
		c := candidate{path: path, files: files, problems: problems}
		var in *gitdir.Repo
		if inRepo {
			in = &repo
		}
		c.key = trust.KeyOf(in, path)
		c.before, c.known = store.Recorded(c.key)
		c.trusted = len(problems) == 0 && store.Trusted(c.key, files)
		if len(files) > 0 || len(problems) > 0 || c.known {
			all = append(all, c)
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if inRepo && repo.Root != "" {
		own := plugin.ProjectGuards(repo.Root)
		files, problems, _ := plugin.ReadForeign(own)
		add(own, files, problems)
		config := RepositoryFile(repo.Root)
		if data, problem, ok := plugin.ReadForeignFile(config); ok {
			var problems []plugin.Problem
			if problem != "" {
				problems = append(problems, plugin.Problem{Path: config, Text: problem})
			}
			add(config, configFiles(config, data), problems)
		}
		if dir == own || dir == repo.Root || dir == filepath.Dir(own) {
			return all
		}
	}
	if files, problems, ok := plugin.ReadForeign(dir); ok && plugin.HasGuards(files) {
		all = nil
		add(dir, files, problems)
	}
	return all
}

// maxShown bounds the lines of one file that are shown.
const maxShown = 400

// print shows the files, and how they differ from those that were trusted.
func (c *candidate) print(w io.Writer) {
	state := "not trusted"
	switch {
	case c.trusted:
		state = "trusted since " + c.before.Time.Local().Format("2006-01-02 15:04")
	case c.known:
		state = "changed since it was trusted on " + c.before.Time.Local().Format("2006-01-02 15:04")
	}
	fmt.Fprintf(w, "%s: %s\n", cleanLine(c.path), state)
	for _, p := range c.problems {
		fmt.Fprintf(w, "  ! %s\n", cleanLine(p.String()))
	}
	before := map[string][]byte{}
	for _, f := range c.before.Files {
		before[f.Name] = f.Data
	}
	now := map[string]bool{}
	for _, f := range c.files {
		now[f.Name] = true
		old, had := before[f.Name]
		mark := "same   "
		switch {
		case !had:
			mark = "new    "
		case !bytes.Equal(old, f.Data):
			mark = "changed"
		}
		fmt.Fprintf(w, "  %s %s, %d lines\n", mark, cleanLine(f.Name), bytes.Count(f.Data, []byte("\n")))
	}
	for _, f := range c.before.Files {
		if !now[f.Name] {
			fmt.Fprintf(w, "  removed %s\n", cleanLine(f.Name))
		}
	}
	if c.trusted {
		return
	}
	for _, f := range c.files {
		old, had := before[f.Name]
		if had && bytes.Equal(old, f.Data) {
			continue
		}
		fmt.Fprintln(w)
		printDiff(w, f.Name, old, f.Data)
	}
	fmt.Fprintln(w)
}

func printDiff(w io.Writer, name string, old, data []byte) {
	text := diff.Diff("trusted/"+name, old, "now/"+name, data)
	n := 0
	for line := range strings.Lines(string(text)) {
		if n++; n == 1 { // "diff trusted/x now/x" repeats the two lines after it
			continue
		}
		if n > maxShown {
			fmt.Fprintf(w, "    … cut after %d lines: read the file\n", maxShown)
			return
		}
		fmt.Fprintf(w, "    %s\n", term.Clean(strings.TrimRight(line, "\r\n"), 300))
	}
}
