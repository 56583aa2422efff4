package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"sallyport/guards"
	"sallyport/internal/testenv"
)

// Files of the published contract run unchanged from MAGPIE_GUARD_DIRS.
func TestPublishedContract(t *testing.T) {
	needPython(t)
	dir, err := filepath.Abs("testdata/contract")
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name, command string
		want          guards.Verdict
		text          string
	}{
		{"a word in the body", `gh pr create -R Acme/app --title x --body "under Embargo"`, guards.Deny, "agent-guard[release-notes]: body for acme names ['embargo']. Leave it out."},
		{"in a file of another name", `gh release create v1 -F notes.txt -R acme/app`, guards.Deny, "names ['secret']"},
		{"in a body file", `gh pr edit 5 -R acme/app --body-file notes.txt`, guards.Deny, "names ['secret']"},
		{"through the API", `gh api repos/acme/app/releases -R acme/app -f body='a secret'`, guards.Deny, "api for"},
		{"an unreadable text", `gh api repos/acme/app/releases -F body=@-`, guards.Deny, "cannot be inspected"},
		{"words of other flags do not count", `gh pr create -R acme/app --title x --body "secret"  --label "embargo"`, guards.Deny, "names ['secret']"},
		{"no such word", `gh pr create -R acme/app --title x --body "fine"`, guards.Pass, ""},
		{"another command", `gh pr comment 5 --body secret`, guards.Pass, ""},
		{"an override", `MAGPIE_ALLOW_NOTES=1 gh pr create --title x --body secret`, guards.Pass, ""},
		{"a commit", `git commit -m 'wip: x'`, guards.Deny, "agent-guard[wip-commit]: finish it first. Override for one command: AGENT_GUARD_ALLOW=wip-commit git commit -m 'wip: x'"},
		{"behind a global option", `git -C . commit -m 'wip: x'`, guards.Deny, "finish it first"},
		{"an exception of the guard", `git commit --amend -m 'wip: x'`, guards.Pass, ""},
		{"an override of the segment", `MAGPIE_ALLOW_WIP=1 git commit -m 'wip: x'`, guards.Pass, ""},
		{"everything off", `MAGPIE_GUARD_OFF=1 git commit -m 'wip: x'`, guards.Pass, ""},
		{"a push of such a commit", `git push`, guards.Deny, "the last commit is work in progress"},
		{"no trigger", `git status wip`, guards.Pass, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t)
			b.opts.Environ = append(os.Environ(), "MAGPIE_GUARD_DIRS="+dir)
			testenv.Write(t, filepath.Join(b.repo, "notes.txt"), "the secret plan")
			testenv.Git(t, b.repo, "commit", "-q", "--allow-empty", "-m", "wip: later")
			b.verdict(row.command, row.want, row.text)
			if f := Failures(b.opts.StateDir); len(f) > 0 {
				t.Errorf("failures %v", f)
			}
		})
	}
}

func TestACommittedValueMustBeCommitted(t *testing.T) {
	needPython(t)
	b := newBench(t).write("x.py", "def guard(ctx):\n    return 'value %s' % ctx.committed_config_value('c.md', 'key')\n")
	path := filepath.Join(b.repo, ".apache-magpie-overrides", "c.md")
	testenv.Write(t, path, "| `key` | `yes` |\n")
	b.verdict("git status", guards.Deny, "value None")
	testenv.Git(t, b.repo, "add", ".")
	testenv.Git(t, b.repo, "commit", "-q", "-m", "c")
	b.verdict("git status", guards.Deny, "value yes")
	testenv.Write(t, path, "| `key` | `edited` |\n")
	b.verdict("git status", guards.Deny, "value None")
}
