package guards

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// git asks the repository in which c runs. Answers about a place that is not
// known are unknown.
func (c *Call) git(args ...string) (string, bool) {
	if c.Place.Unknown {
		return "", false
	}
	out, ok := c.run.world.Git(c.Place, args...)
	return strings.TrimRight(out, "\n"), ok
}

// gitLines is git's answer in lines, none if it is unknown.
func (c *Call) gitLines(args ...string) []string {
	out, ok := c.git(args...)
	if !ok || out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// setting is a configuration value for the command: from its own line, else
// from the repository.
func (c *Call) setting(key string) (string, bool) {
	if s, ok := c.Git.Global.Setting(key); ok {
		return s.Value.Value, s.Value.Static
	}
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		if g := earlier[i].Git; g != nil && g.Name == "config" && len(g.Operands) == 2 && strings.EqualFold(g.Operands[0].Value, key) {
			return g.Operands[1].Value, g.Operands[1].Static
		}
	}
	return c.git("config", "--get", key)
}

// settings are all values of a key that can have several.
func (c *Call) settings(key string) []shellcmd.Word {
	var all []shellcmd.Word
	for _, line := range c.gitLines("config", "--get-all", key) {
		all = append(all, shellcmd.NewWord(line))
	}
	for _, e := range c.Earlier() {
		g := e.Git
		if g == nil || g.Name != "config" || len(g.Operands) < 2 || !strings.EqualFold(g.Operands[0].Value, key) {
			continue
		}
		if !g.On("add") && !g.On("append") {
			all = nil
		}
		all = append(all, g.Operands[1])
	}
	for _, s := range c.Git.Global.Config {
		if strings.EqualFold(s.Key, key) {
			all = append(all, s.Value)
		}
	}
	return all
}

// commit resolves a revision to the name of a commit.
func (c *Call) commit(rev string) (string, bool) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", false
	}
	return c.git("rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
}

// currentBranch is the branch that HEAD is on, as far as the line leaves it
// there.
func (c *Call) currentBranch() (string, bool) {
	switch h := c.history(); h.head {
	case "":
		return c.git("symbolic-ref", "--quiet", "--short", "HEAD")
	case elsewhere:
		return "", false
	default:
		return h.head, true
	}
}

// baseRefs are the names under which the default branch may be known.
func (c *Call) baseRefs(remote string) []string {
	remotes := []string{"origin"}
	if remote != "" && remote != "origin" && !strings.ContainsAny(remote, ":/ \\") {
		remotes = append(remotes, remote)
	}
	var refs []string
	for _, r := range remotes {
		refs = append(refs, "refs/remotes/"+r+"/HEAD")
	}
	if name, ok := c.git("config", "--get", "init.defaultBranch"); ok && name != "" {
		for _, r := range remotes {
			refs = append(refs, "refs/remotes/"+r+"/"+name)
		}
	}
	for _, name := range [...]string{"main", "master"} {
		for _, r := range remotes {
			refs = append(refs, "refs/remotes/"+r+"/"+name)
		}
	}
	return append(refs, "refs/heads/main", "refs/heads/master")
}

// base is the default branch: the full name of a ref that exists. short is its
// name on the remote.
func (c *Call) base(remote string) (ref, short string, ok bool) {
	for _, r := range c.baseRefs(remote) {
		if _, exists := c.commit(r); !exists {
			continue
		}
		if strings.HasSuffix(r, "/HEAD") {
			if target, known := c.git("symbolic-ref", "--quiet", r); known {
				r = target
			}
		}
		short = strings.TrimPrefix(r, "refs/heads/")
		if rest, isRemote := strings.CutPrefix(r, "refs/remotes/"); isRemote {
			_, short, _ = strings.Cut(rest, "/")
		}
		return r, short, true
	}
	return "", "", false
}

// over reports whether rev has commits over the default branch.
func (c *Call) over(rev string) (bool, bool) {
	ref, _, ok := c.base("")
	if !ok {
		return false, false
	}
	return c.commitsOver(ref, rev)
}

func (c *Call) commitsOver(base, rev string) (has, ok bool) {
	id, ok := c.commit(rev)
	if !ok {
		return false, false
	}
	out, ok := c.git("rev-list", "--count", "--max-count=1", base+".."+id, "--")
	return out != "0", ok
}

func itoa(n int) string {
	if n == 0 {
		return "0"
	}
	var b [20]byte
	i := len(b)
	for ; n > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}
