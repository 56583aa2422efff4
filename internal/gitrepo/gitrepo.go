// Package gitrepo says what a repository's work tree is doing: which branch is
// checked out, what is in progress, and whether tracked files differ.
//
// [ReadHead] and [InProgress] read git's own files and start nothing; [Status]
// asks git. No answer ever rewrites the index or takes a lock, nothing is
// fetched, and a repository's configuration gets no program of its choice
// started (see hardening).
package gitrepo

// A Head is what is checked out.
type Head struct {
	Branch   string // name below refs/heads/; empty if detached
	Hash     string // object name; empty if it is not known
	Detached bool
}

// Short is the abbreviated object name of a detached head.
func (h Head) Short() string {
	if len(h.Hash) > 7 {
		return h.Hash[:7]
	}
	return h.Hash
}

// Changes are what only git itself can tell.
type Changes struct {
	Dirty    bool   // tracked files differ from HEAD
	Upstream string // short name, such as "origin/main"; empty without one
	Gone     bool   // the upstream is configured but its ref is not there
	Ahead    int
	Behind   int
}

// An Operation is something in progress that a commit, a continue or an abort
// ends.
type Operation struct {
	Name   string // "rebase", "am", "merge", "cherry-pick", "revert", "bisect"; empty for none
	Branch string // the branch that is being rebased or bisected, if known
	Step   int    // of a rebase or am, 0 if not known
	Steps  int
}
