package gitcmd

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// realGit runs the machine's git in an empty repository of the test's own.
type realGit struct {
	t   *testing.T
	dir string
	env []string
}

func newRealGit(t *testing.T) *realGit {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	home := t.TempDir()
	g := &realGit{t: t, dir: t.TempDir(), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "LC_ALL=C"}}
	g.run("init", "-q")
	g.run("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	return g
}

func (g *realGit) run(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

const refused = "zz-unknown"

// accepts asks git whether it knows the option and how many words of its own
// it takes. An unknown option behind it ends the command before it does
// anything, and tells how far git read.
func (g *realGit) accepts(command []string, option string) (known bool, takes int) {
	args := append(slices.Clone(command), option, "--"+refused+"-1", "--"+refused+"-2")
	out := g.run(args...)
	switch {
	case strings.Contains(out, "unknown option `"+refused+"-1"):
		return true, 0
	case strings.Contains(out, "unknown option `"+refused+"-2"):
		return true, 1
	}
	name, _, _ := strings.Cut(strings.TrimLeft(option, "-"), "=")
	if strings.Contains(out, "unknown option `"+name) || strings.Contains(out, "ambiguous option") {
		return false, 0
	}
	return true, 1 // git looked at the value and did not like it
}

func TestTablesAgreeWithGit(t *testing.T) {
	if testing.Short() {
		t.Skip("asks git about every option")
	}
	g := newRealGit(t)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, e := range options {
		key := e.name
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			g.compare(t, key)
		}()
	}
	wg.Wait()
}

func (g *realGit) compare(t *testing.T, key string) {
	command := strings.Fields(key)
	tab := tableOf(command[0], strings.Join(command[1:], " "))
	listed := g.run(append(slices.Clone(command), "--git-completion-helper-all")...)
	if strings.Contains(listed, "usage:") || key == "stash create" || key == "reflog expire" || strings.Contains(listed, "fatal") || strings.Contains(listed, "error") {
		listed = ""
	}
	known := map[string]bool{}
	for i := range tab.defs {
		d := &tab.defs[i]
		known[d.long] = true
		if d.newer {
			continue
		}
		if d.long != "" && !handSorted(key) {
			ok, takes := g.accepts(command, "--"+d.long)
			if !ok && !gone(g, key, d.long) {
				t.Errorf("git %s: --%s stands in the table but git refuses it", key, d.long)
			}
			if want := d.arity == required; ok && (takes == 1) != want {
				t.Errorf("git %s --%s: git takes %d words, the table says value required = %v", key, d.long, takes, want)
			}
		}
	}
	for token := range strings.FieldsSeq(listed) {
		name := strings.TrimSuffix(strings.TrimPrefix(token, "--"), "=")
		if name == "" {
			continue
		}
		if _, _, ok := tab.find(name); !ok {
			t.Errorf("git %s lists --%s, the table does not know it", key, name)
		}
	}
}

// handSorted are the commands that read their options by hand, or answer an
// unknown option with something else than parse-options does.
func handSorted(key string) bool {
	switch key {
	case "commit-tree", "stash list", "stash save", "config", "stash show", "interpret-trailers",
		"cherry-pick", "revert", "sparse-checkout set", "stash store", "reflog expire":
		return true
	}
	return false
}

var versionLine = regexp.MustCompile(`git version (\d+)\.(\d+)`)

// gone reports options that newer versions of git dropped or hide.
func gone(g *realGit, key, long string) bool {
	m := versionLine.FindStringSubmatch(g.run("--version"))
	return m != nil && (m[1] != "2" || m[2] != "39")
}

// TestAbbreviationsAgreeWithGit tries every prefix of every option and its
// negation of some commands.
func TestAbbreviationsAgreeWithGit(t *testing.T) {
	if testing.Short() {
		t.Skip("asks git about every prefix")
	}
	g := newRealGit(t)
	for _, key := range []string{"commit", "push", "merge", "clean"} {
		tab := tableOf(key, "")
		prefixes := map[string]bool{}
		for _, d := range tab.defs {
			for _, long := range []string{d.long, "no-" + d.long} {
				for n := max(2, len(long)-8); n <= len(long) && d.long != "" && !d.newer; n++ {
					prefixes[long[:n]] = true
				}
			}
		}
		for p := range prefixes {
			gitKnows, gitTakes := g.accepts([]string{key}, "--"+p)
			if !gitKnows {
				continue // ambiguous, or a negation that git forbids
			}
			d, unset, ok := tab.find(p)
			if !ok {
				t.Errorf("git %s takes --%s, the table does not", key, p)
				continue
			}
			if takes := d.arity == required && !unset; takes != (gitTakes == 1) {
				t.Errorf("git %s --%s: git takes %d words, we read --%s (value %v)", key, p, gitTakes, d.long, takes)
			}
		}
	}
}

// TestBuiltinsAreGits keeps the list of names that no alias can replace.
func TestBuiltinsAreGits(t *testing.T) {
	g := newRealGit(t)
	for name := range strings.FieldsSeq(g.run("--list-cmds=builtins")) {
		if strings.Contains(name, "--") || strings.HasPrefix(name, "merge-recursive-") || name == "pickaxe" || name == "fsmonitor--daemon" {
			continue
		}
		if !isBuiltin(name) {
			t.Logf("git %s is not in the list: an alias lookup will decide", name)
		}
	}
	for name := range strings.FieldsSeq(builtins) {
		if name == "gui" || name == "citool" || name == "send-email" {
			continue
		}
		if out := g.run(name, "-h"); strings.Contains(out, "is not a git command") {
			t.Errorf("%s stands among the built-in commands, git says: %s", name, out)
		}
	}
}
