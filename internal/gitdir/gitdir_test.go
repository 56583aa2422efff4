package gitdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/internal/testenv"
)

// TestAgreesWithGit compares every layout with what git itself says.
func TestAgreesWithGit(t *testing.T) {
	testenv.Isolate(t)
	base := testenv.Dir(t)
	repo := testenv.Repo(t, filepath.Join(base, "repo"))
	join := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	mkdir := func(dir string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(join("repo", "src", "deep"))
	testenv.Git(t, repo, "worktree", "add", "-q", "-b", "beside", join("beside"))
	testenv.Git(t, repo, "worktree", "add", "-q", "-b", "inside", join("repo", ".claude", "worktrees", "inside"))
	testenv.Git(t, repo, "clone", "-q", "--bare", repo, join("bare.git"))
	testenv.Git(t, join("bare.git"), "worktree", "add", "-q", "-b", "of-bare", join("of-bare"))
	testenv.Git(t, base, "clone", "-q", "--bare", repo, join("dotbare", ".git"))
	testenv.Git(t, join("dotbare", ".git"), "worktree", "add", "-q", "-b", "of-dotbare", join("dotbare", "wt"))
	testenv.Git(t, repo, "submodule", "-q", "add", repo, "sub")
	testenv.Git(t, join("repo", "sub"), "worktree", "add", "-q", "-b", "of-sub", join("of-sub"))
	testenv.Repo(t, join("repo", "nested"))
	testenv.Git(t, base, "init", "-q", "--separate-git-dir", join("elsewhere.gitdir"), join("separate"))
	testenv.Git(t, join("separate"), "commit", "-q", "--allow-empty", "-m", "x")
	testenv.Git(t, join("separate"), "worktree", "add", "-q", "-b", "of-separate", join("of-separate"))
	if err := os.Symlink(join("repo", "src"), join("link")); err != nil {
		t.Skip("no symbolic links here")
	}
	mkdir(join("repo", "not-a-repo", ".git"))

	tests := []struct {
		name, dir, main string
		linked          bool
	}{
		{"root", "repo", "repo", false},
		{"below the root", "repo/src/deep", "repo", false},
		{"through a symbolic link", "link", "repo", false},
		{"linked worktree beside", "beside", "repo", true},
		{"linked worktree inside the main checkout", "repo/.claude/worktrees/inside", "repo", true},
		{"bare clone", "bare.git", "", false},
		{"worktree of a bare clone", "of-bare", "", true},
		{"worktree of a bare clone named .git", "dotbare/wt", "dotbare", true},
		{"submodule is not a linked worktree", "repo/sub", "repo/sub", false},
		{"worktree of a submodule", "of-sub", "", true},
		{"nested repository", "repo/nested", "repo/nested", false},
		{"separate git dir", "separate", "separate", false},
		{"worktree of a separate git dir", "of-separate", "", true},
		{"an empty .git directory is passed over", "repo/not-a-repo", "repo", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := join(filepath.FromSlash(tt.dir))
			got, ok := Find(dir, nil)
			if !ok {
				t.Fatalf("Find(%s) found nothing", tt.dir)
			}
			want := Repo{Linked: tt.linked}
			if tt.main != "" {
				want.Main = join(filepath.FromSlash(tt.main))
			}
			if testenv.Git(t, dir, "rev-parse", "--is-inside-work-tree") == "true" {
				want.Root = testenv.Git(t, dir, "rev-parse", "--show-toplevel")
			}
			want.GitDir = testenv.Git(t, dir, "rev-parse", "--absolute-git-dir")
			want.CommonDir = testenv.Git(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
			want.Bare = strings.Contains(tt.name, "bare clone")
			if got != want {
				t.Errorf("Find(%s)\n got %+v\nwant %+v", tt.dir, got, want)
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	testenv.Isolate(t)
	base := testenv.Dir(t)
	repo := testenv.Repo(t, filepath.Join(base, "repo"))
	testenv.Write(t, filepath.Join(repo, "dangling", ".git"), "gitdir: /nowhere/at/all\n")
	testenv.Write(t, filepath.Join(repo, "garbage", ".git"), "\x00\xff garbage")
	testenv.Write(t, filepath.Join(repo, "empty", ".git"), "")
	for _, dir := range []string{base, filepath.Join(base, "deleted"),
		filepath.Join(repo, "dangling"), filepath.Join(repo, "garbage"), filepath.Join(repo, "empty")} {
		if got, ok := Find(dir, nil); ok {
			t.Errorf("Find(%s) = %+v, want nothing", dir, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	testenv.Isolate(t)
	base := testenv.Dir(t)
	repo := testenv.Repo(t, filepath.Join(base, "repo"))
	other := filepath.Join(base, "other", "deep")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	env := func(kv map[string]string) func(string) string { return func(k string) string { return kv[k] } }
	gitDir := filepath.Join(repo, ".git")

	if r, ok := Find(other, env(map[string]string{"GIT_DIR": gitDir})); !ok || r.GitDir != gitDir || r.Root != other {
		t.Errorf("GIT_DIR alone: %+v %v, want git dir %s and root %s", r, ok, gitDir, other)
	}
	if r, ok := Find(other, env(map[string]string{"GIT_DIR": gitDir, "GIT_WORK_TREE": repo})); !ok || r.Root != repo {
		t.Errorf("GIT_WORK_TREE: %+v %v, want root %s", r, ok, repo)
	}
	if r, ok := Find(repo, env(map[string]string{"GIT_DIR": "/nowhere"})); ok {
		t.Errorf("broken GIT_DIR: %+v, want nothing", r)
	}
	sub := filepath.Join(repo, "sub", "dir")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if r, ok := Find(sub, env(map[string]string{"GIT_CEILING_DIRECTORIES": repo})); ok {
		t.Errorf("ceiling at the root: %+v, want nothing", r)
	}
}

func FuzzConfigValue(f *testing.F) {
	f.Add("[core]\n\tbare = true\n")
	f.Add("[core] bare\n[core \"x\"]\nbare = false ; comment\n")
	f.Add("[core]\nworktree = \"a \\\"b\" # c")
	f.Fuzz(func(t *testing.T, text string) {
		if v := configValue(text, "core", "bare"); strings.ContainsAny(v, "\n") {
			t.Errorf("value %q of %q spans lines", v, text)
		}
	})
}
