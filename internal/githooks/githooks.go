// Package githooks runs a repository's own hooks from a hook directory that
// the whole account shares.
//
// With a global core.hooksPath git looks for hooks in one directory only and
// every repository's own hooks fall silent. [Dispatch] stands there under each
// hook's name and becomes the hook that git would have run without it: the one
// in the repository's common directory, with the same arguments, standard
// streams and environment, so that exit status and signals are the hook's own.
// It never runs a file that git itself would not have run.
//
// [Shim] stands before programs that install hooks, which would otherwise
// write them into the shared directory.
package githooks

import (
	"slices"
	"strings"
)

// Names are the hooks that the shared directory has.
var Names = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch",
	"pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-auto-gc", "post-rewrite",
	"sendemail-validate",
	"pre-receive", "update", "post-receive", "post-update",
}

// FrequentNames are hooks that git starts several times in one command.
var FrequentNames = []string{"reference-transaction", "post-index-change"}

// TakingOver are hooks whose existence alone changes what git does: it leaves
// the work tree of a push to the hook, or the answer to the client. They are
// never installed. (fsmonitor-watchman and p4-* are chosen by configuration.)
var TakingOver = []string{"push-to-checkout", "proc-receive"}

// known reports a name that is dispatched.
func known(name string) bool {
	return slices.Contains(Names, name) || slices.Contains(FrequentNames, name)
}

// fed are the hooks that git writes to. The others get no input, or a terminal
// that nobody may wait for.
var fed = []string{"pre-push", "pre-receive", "post-receive", "post-rewrite", "reference-transaction"}

// Program is the name of the file in the shared directory that all links there
// lead to.
const Program = "git-hook"

// Recorder is the name there of the program that lists a new worktree.
const Recorder = "add-project-root"

// ChainFile holds, on its one line, the directory whose hooks run before the
// repository's: the core.hooksPath that the shared directory took the place
// of. A relative one starts where git runs the hook.
const ChainFile = ".chain"

// Names of variables in a hook's environment.
const (
	depthVariable = "SALLYPORT_HOOK_DEPTH"
	debugVariable = "SALLYPORT_HOOK_DEBUG"
)

// maxDepth is how deep hooks may start each other.
const maxDepth = 5

// FirstTime reports that post-checkout with these arguments is for a new
// worktree or for another branch, not for single files. The null id has 40 or
// 64 zeros.
func FirstTime(args []string) bool {
	return len(args) >= 3 && (args[2] == "1" || args[0] != "" && strings.Trim(args[0], "0") == "")
}
