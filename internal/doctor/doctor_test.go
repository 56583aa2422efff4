package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport/internal/hints"
	"sallyport/internal/testenv"
)

// TestMain lets the test binary be the program that runs inside a sandbox.
func TestMain(m *testing.M) {
	if dir := os.Getenv("DOCTOR_PROBE_DIR"); dir != "" {
		w, err := NewWorld(os.Environ(), dir, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		w.Offline = true
		results := Run(context.Background(), w, Probes())
		json.NewEncoder(os.Stdout).Encode(Snapshot{Kind: snapshotKind, Inside: w.Inside, Dir: dir, Results: results})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func errno(op string, err error) error { return &fs.PathError{Op: op, Path: "/p", Err: err} }

func ended(code int, stdout, stderr string) outcome {
	return outcome{stdout: stdout, stderr: stderr, exit: &code}
}

// world is a made-up account whose settings files hold what is given: "user",
// "project" and "local".
func world(t *testing.T, inside bool, files map[string]string) *World {
	t.Helper()
	home := testenv.Isolate(t)
	repo := testenv.Repo(t, filepath.Join(home, "repo"))
	for scope, text := range files {
		path := map[string]string{
			"user": filepath.Join(home, ".claude/settings.json"), "project": filepath.Join(repo, ".claude/settings.json"), "local": filepath.Join(repo, ".claude/settings.local.json"),
		}[scope]
		testenv.Write(t, path, text)
	}
	w, err := NewWorld(append(os.Environ(), "TMPDIR="+filepath.Join(home, "tmp"), "SHELL=/bin/sh", "SSH_AUTH_SOCK=", "DOCKER_HOST=", "CONTAINER_HOST=", "GOPATH=", "GOCACHE=", "GOMODCACHE="), repo, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.Inside, w.Offline = inside, true
	return w
}

// A verdict is one row: what a probe makes of an observation.
type verdict struct {
	probe string
	why   string
	got   Result
	want  Status
	id    string
	cause Cause
}

// TestProbes goes through all probes; the last part looks at the others.
func TestProbes(t *testing.T) {
	t.Run("verdicts", testVerdicts)
	t.Run("for real", testProbesForReal)
	t.Run("every status", testEveryStatus)
}

// testVerdicts has, for every probe, a row for each status that it can give.
// What the machine itself can show is in the other tests; here are the answers
// of kernels, agents and proxies that it cannot be made to give.
func testVerdicts(t *testing.T) {
	in, out := &World{Inside: true, Home: "/home/u"}, &World{Home: "/home/u"}
	eperm, enoent := errno("open", syscall.EPERM), errno("open", syscall.ENOENT)
	erofs := errno("open", syscall.EROFS)
	dialed := func(e syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", e)}
	}
	timeout := &net.OpError{Op: "read", Net: "unix", Err: os.ErrDeadlineExceeded}
	bwrap := func(text string) outcome { return ended(1, "", text+"\n") }
	rows := []verdict{
		{"sandbox-active", "inside, nothing leaks", judgeActive(active{on: true, inside: true}), Pass, "", ""},
		{"sandbox-active", "a denied path is read", judgeActive(active{on: true, inside: true, leak: "~/.ssh"}), Fail, "sandbox-silently-off", Sandbox},
		{"sandbox-active", "on, and the agent's command is outside", judgeActive(active{on: true, agent: true}), Fail, "sandbox-silently-off", Unclear},
		{"sandbox-active", "off, and an agent runs", judgeActive(active{agent: true, why: "off."}), Warn, "", Other},
		{"sandbox-active", "a terminal", judgeActive(active{on: true}), None, "", ""},

		{"bwrap-userns", "works", judgeBwrap(ended(0, "", "")), Pass, "", ""},
		{"bwrap-userns", "AppArmor", judgeBwrap(bwrap("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted")), Fail, "bwrap-loopback-denied", Other},
		{"bwrap-userns", "sysctl", judgeBwrap(bwrap("bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.")), Fail, "userns-disabled", Other},
		{"bwrap-userns", "container", judgeBwrap(bwrap("bwrap: Can't mount proc on /newroot/proc: Operation not permitted")), Fail, "bwrap-proc-mount", Other},
		{"bwrap-userns", "a text nobody knows", judgeBwrap(bwrap("bwrap: unknown option")), Warn, "", Other},
		{"bwrap-userns", "hangs", judgeBwrap(outcome{timeout: true}), Warn, "", Other},

		{"sandbox-deps", "there", judgeDeps(deps{whose: "PATH"}), Pass, "", ""},
		{"sandbox-deps", "not there", judgeDeps(deps{whose: "PATH", missing: []string{"socat"}}), Fail, "sandbox-deps-missing", Other},
		{"sandbox-deps", "only on the shell's PATH", judgeDeps(deps{whose: "the client's PATH", missing: []string{"bwrap"}, elsewhere: []string{"bwrap"}}), Fail, "sandbox-deps-missing", Other},
		{"sandbox-deps", "not there and not wanted", judgeDeps(deps{whose: "PATH", missing: []string{"socat"}, off: true}), Warn, "", Other},

		{"seccomp-filter", "outside, no filter", judgeSockets(false, nil, nil), Pass, "", ""},
		{"seccomp-filter", "inside, filter", judgeSockets(true, eperm, nil), Pass, "", ""},
		{"seccomp-filter", "inside, no filter", judgeSockets(true, nil, nil), Warn, "", Other},
		{"seccomp-filter", "a container's own filter", judgeSockets(false, eperm, nil), Warn, "", Other},
		{"seccomp-filter", "no internet sockets", judgeSockets(true, nil, eperm), Warn, "", Other},

		{"pipes", "works", judgePipes(true, ended(0, "x\n", "")), Pass, "", ""},
		{"pipes", "empty inside", judgePipes(true, ended(0, "", "")), Fail, "pipes-empty", Sandbox},
		{"pipes", "no shell", judgePipes(false, outcome{err: enoent}), Warn, "", Other},

		{"project-root", "works", judgeRoot(in, rootAccess{root: "/p"}), Pass, "", ""},
		{"project-root", "written, not read", judgeRoot(in, rootAccess{root: "/p", read: eperm}), Fail, "project-root-unreadable", Sandbox},
		{"project-root", "hidden", judgeRoot(in, rootAccess{root: "/p", read: enoent, write: erofs}), Fail, "project-root-unreadable", Unclear},
		{"project-root", "not written", judgeRoot(in, rootAccess{root: "/p", write: erofs}), Fail, "project-root-unreadable", Sandbox},
		{"project-root", "read-only outside", judgeRoot(out, rootAccess{root: "/p", write: erofs}), Warn, "", Other},

		{"working-dirs", "listed", judgeWorkingDirs("s", []string{"/a"}, []string{"/a"}), Pass, "", ""},
		{"working-dirs", "missing", judgeWorkingDirs("s", []string{"/a"}, nil), Warn, "", Other},
		{"working-dirs", "a glob", judgeWorkingDirs("s", []string{"/tmp/claude-1"}, []string{"/tmp/claude-*"}), Warn, "", Other},
		{"working-dirs", "a glob besides", judgeWorkingDirs("s", []string{"/a"}, []string{"/a", "/b*"}), Warn, "", Other},

		{"tmpdir-setting", "none", judgeTmpdir(nil), Pass, "", ""},
		{"tmpdir-setting", "set", judgeTmpdir([]string{"f:1"}), Warn, "settings-env-tmpdir", Sandbox},

		{"excluded-commands", "new client", judgeExcluded([]string{"gh *"}, "2.1.315"), Pass, "", ""},
		{"excluded-commands", "newer client", judgeExcluded([]string{"gh *"}, "2.2.0"), Pass, "", ""},
		{"excluded-commands", "old client", judgeExcluded([]string{"gh *"}, "2.1.99"), Fail, "excluded-leak", Sandbox},
		{"excluded-commands", "unknown client", judgeExcluded([]string{"gh *"}, ""), Warn, "", Other},
		{"excluded-commands", "nothing excluded", judgeExcluded(nil, ""), None, "", ""},

		{"ssh-agent", "keys", judgeAgent(in, "/s", 2, nil), Pass, "", ""},
		{"ssh-agent", "no keys", judgeAgent(in, "/s", 0, nil), Warn, "", Other},
		{"ssh-agent", "filter", judgeAgent(in, "/s", 0, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EPERM)}), Fail, "ssh-agent-unreachable", Sandbox},
		{"ssh-agent", "hidden", judgeAgent(in, "/s", 0, dialed(syscall.ENOENT)), Fail, "ssh-agent-unreachable", Unclear},
		{"ssh-agent", "stale outside", judgeAgent(out, "/s", 0, dialed(syscall.ENOENT)), Warn, "", Other},
		{"ssh-agent", "nobody listens", judgeAgent(in, "/s", 0, dialed(syscall.ECONNREFUSED)), Warn, "", Other},
		{"ssh-agent", "hangs", judgeAgent(in, "/s", 0, timeout), Warn, "", Other},
		{"ssh-agent", "something else", judgeAgent(in, "/s", 0, errProtocol), Warn, "", Other},

		{"localhost-bind", "works", judgeLoopback(in, nil, nil), Pass, "", ""},
		{"localhost-bind", "bind refused", judgeLoopback(in, &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EPERM)}, nil), Fail, "loopback-bind-denied", Sandbox},
		{"localhost-bind", "connect refused", judgeLoopback(in, nil, dialed(syscall.ECONNREFUSED)), Fail, "loopback-connect-refused", Sandbox},
		{"localhost-bind", "outside", judgeLoopback(out, &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EPERM)}, nil), Warn, "", Other},
		{"localhost-bind", "port taken", judgeLoopback(in, &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}, nil), Warn, "", Other},
		{"localhost-bind", "unix refused inside", judgeUnixListen(in, &net.OpError{Op: "listen", Err: os.NewSyscallError("socket", syscall.EPERM)}), Warn, "unix-listen-denied", Sandbox},
		{"localhost-bind", "unix path too long", judgeUnixListen(in, &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EINVAL)}), None, "", ""},

		{"container-gateway", "answers", judgeContainer(out, "/s", true, 200, nil), Pass, "", ""},
		{"container-gateway", "the daemon itself, from inside", judgeContainer(in, "/s", true, 200, nil), Warn, "", Other},
		{"container-gateway", "refused inside", judgeContainer(in, "/s", true, 0, dialed(syscall.EPERM)), Fail, "container-socket-denied", Sandbox},
		{"container-gateway", "not running", judgeContainer(out, "/s", true, 0, dialed(syscall.ENOENT)), Warn, "", Other},
		{"container-gateway", "nothing behind it", judgeContainer(in, "/s", false, 502, nil), Warn, "container-gateway-down", Other},
		{"container-gateway", "hangs", judgeContainer(in, "/s", false, 0, timeout), Warn, "", Other},

		{"egress", "refused as it should", judgeCanary(403, nil), Pass, "", ""},
		{"egress", "let through", judgeCanary(200, nil), Fail, "allowlist-not-enforced", Sandbox},
		{"egress", "tried and not found", judgeCanary(502, nil), Fail, "allowlist-not-enforced", Sandbox},
		{"egress", "no proxy there", judgeCanary(0, dialed(syscall.ECONNREFUSED)), Warn, "", Other},
		{"egress", "listed and refused", judgeAllowed("example.com", 403, nil), Fail, "proxy-host-blocked", Sandbox},
		{"egress", "listed and let through", judgeAllowed("example.com", 200, nil), Pass, "", ""},
		{"egress", "listed and away", judgeAllowed("example.com", 504, nil), Warn, "", Other},

		{"ssh-transport", "the other end spoke", judgeSSH(in, "git@h", ended(1, "", "Hi there!")), Pass, "", ""},
		{"ssh-transport", "no name inside", judgeSSH(in, "git@h", ended(255, "", "ssh: Could not resolve hostname h: Name or service not known")), Fail, "ssh-transport-blocked", Sandbox},
		{"ssh-transport", "no name outside", judgeSSH(out, "git@h", ended(255, "", "ssh: Could not resolve hostname h: Name or service not known")), Warn, "", Other},
		{"ssh-transport", "no key", judgeSSH(in, "git@h", ended(255, "", "git@h: Permission denied (publickey).")), Warn, "", Other},
		{"ssh-transport", "unknown host", judgeSSH(out, "git@h", ended(255, "", "Host key verification failed.")), Warn, "", Other},

		{"gh-sandbox", "works", judgeGH(true, false, ended(0, "{}", "")), Pass, "", ""},
		{"gh-sandbox", "hidden and not excluded", judgeGH(true, false, ended(1, "", "Post \"https://api.github.com/graphql\": tls: failed to verify certificate: x509: OSStatus -26276")), Fail, "gh-in-sandbox", Sandbox},
		{"gh-sandbox", "hidden and excluded", judgeGH(true, true, ended(1, "", "tls: failed to verify certificate: x509: OSStatus -26276")), Pass, "", ""},
		{"gh-sandbox", "not logged in", judgeGH(false, false, ended(4, "", "HTTP 401: Requires authentication (https://api.github.com/user)")), Warn, "", Other},
		{"gh-sandbox", "hangs", judgeGH(true, false, outcome{timeout: true}), Warn, "", Other},

		{"dev-tools", "works", judgeTool(in, tool{name: "uv", path: "/b/uv", ran: ended(0, "uv 1.0", "")}), Pass, "", ""},
		{"dev-tools", "hidden", judgeTool(in, tool{name: "uv", hidden: true}), Fail, "devtool-not-found", Unclear},
		{"dev-tools", "granted and not there", judgeTool(in, tool{name: "uv", hidden: true, granted: true}), None, "", ""},
		{"dev-tools", "does not run", judgeTool(out, tool{name: "uv", path: "/b/uv", ran: ended(1, "", "broken")}), Warn, "", Other},
		{"dev-tools", "no identity", judgeIdentity(true, ""), Warn, "", Other},

		{"phantom-files", "none", judgePhantoms(true, nil), Pass, "", ""},
		{"phantom-files", "inside", judgePhantoms(true, []string{".mcp.json"}), Fail, "git-phantom-files", Sandbox},
		{"phantom-files", "outside", judgePhantoms(false, []string{".mcp.json"}), Warn, "", Other},

		{"pkg-caches", "refused inside", in.refused(erofs, "pkg-cache-denied", "write"), Fail, "pkg-cache-denied", Sandbox},
		{"pkg-caches", "refused outside", out.refused(erofs, "pkg-cache-denied", "write"), Warn, "", Other},

		{"hooks-live", "silent", judgeHook("p", "PreToolUse", ended(0, "", "")), Pass, "", ""},
		{"hooks-live", "not there", judgeHook("p", "PreToolUse", outcome{err: enoent}), Warn, "", Other},
		{"hooks-live", "exit 1", judgeHook("p", "PreToolUse", ended(1, "", "oops")), Warn, "", Other},
		{"hooks-live", "prints text", judgeHook("p", "PostToolUse", ended(0, "hello", "")), Warn, "", Other},
		{"hooks-live", "empty status line", judgeHook("p", "statusLine", ended(0, "", "")), Warn, "", Other},
		{"hooks-live", "too slow", judgeHook("p", "PreToolUse", outcome{timeout: true}), Warn, "", Other},
	}
	for _, r := range rows {
		check(t, r)
	}
	noteSeen(rows...)
}

func check(t *testing.T, r verdict) {
	t.Helper()
	if r.got.Status != r.want || r.got.Catalog != r.id || r.got.Cause != r.cause || r.got.Evidence == "" {
		t.Errorf("%s, %s: %s %q cause %q (%s), want %s %q cause %q", r.probe, r.why, r.got.Status, r.got.Catalog, r.got.Cause, r.got.Evidence, r.want, r.id, r.cause)
	}
}

var seen = map[string]map[Status]bool{}

func noteSeen(rows ...verdict) {
	for _, r := range rows {
		if seen[r.probe] == nil {
			seen[r.probe] = map[Status]bool{}
		}
		seen[r.probe][r.want] = true
	}
}

// one runs a single probe and returns the result about a subject.
func one(t *testing.T, w *World, p Probe, subject string) Result {
	t.Helper()
	results := runOne(t.Context(), w, p, limit)
	for _, r := range results {
		if r.Subject == subject {
			return r
		}
	}
	t.Fatalf("%s has no result about %q: %v", p.Name, subject, results)
	return Result{}
}

// testProbesForReal looks at conditions that can be made on any machine.
func testProbesForReal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the conditions are made with POSIX means")
	}
	const deny = `{"sandbox":{"enabled":true,"filesystem":{"denyRead":["~/"],"allowRead":["."]}}}`
	fake := func(t *testing.T, w *World, name, script string) {
		dir := filepath.Join(w.Home, "bin")
		testenv.Write(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		w.Environ = append(w.Environ, "PATH="+dir+":"+w.Getenv("PATH"))
	}
	noPath := func(t *testing.T, w *World) { w.Environ = append(w.Environ, "PATH="+t.TempDir()) }
	config := func(t *testing.T, w *World, key, value string) {
		testenv.Git(t, w.Home, "config", "--file", filepath.Join(w.Home, ".gitconfig"), key, value)
	}
	for _, tt := range []struct {
		why     string
		probe   Probe
		subject string
		inside  bool
		files   map[string]string
		make    func(t *testing.T, w *World)
		want    Status
		id      string
		cause   Cause
		scope   hints.FixScope // of the fix; empty for none
		fix     string         // part of its fragment
	}{
		{why: "a leak", probe: sandboxActive, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			testenv.Write(t, filepath.Join(w.Home, ".netrc"), "machine x\n")
		}, want: Fail, id: "sandbox-silently-off", cause: Sandbox},
		{why: "an empty directory is no leak", probe: sandboxActive, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			os.Mkdir(filepath.Join(w.Home, ".ssh"), 0o700)
		}, want: Pass},
		{why: "not denied is no leak", probe: sandboxActive, inside: true, make: func(t *testing.T, w *World) {
			testenv.Write(t, filepath.Join(w.Home, ".netrc"), "machine x\n")
		}, want: Pass},
		{why: "agent outside", probe: sandboxActive, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) { w.Agent = true }, want: Fail, id: "sandbox-silently-off", cause: Unclear},
		{why: "terminal", probe: sandboxActive, want: None},

		{why: "a fake bwrap that AppArmor stops", probe: bwrapUserns, make: func(t *testing.T, w *World) {
			fake(t, w, "bwrap", "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1")
		}, want: Fail, id: "bwrap-loopback-denied", cause: Other, scope: hints.UserScope, fix: "failIfUnavailable"},
		{why: "no bwrap", probe: bwrapUserns, make: noPath, want: None},
		{why: "inside", probe: bwrapUserns, inside: true, want: None},

		{why: "nothing on PATH", probe: sandboxDeps, files: map[string]string{"user": `{"sandbox":{"enabled":true}}`}, make: noPath, want: Fail, id: "sandbox-deps-missing", cause: Other, scope: hints.UserScope, fix: "failIfUnavailable"},
		{why: "nothing on PATH, sandbox off", probe: sandboxDeps, make: noPath, want: Warn, cause: Other},
		{why: "no sh", probe: pipes, make: noPath, want: None},
		{why: "a pipe", probe: pipes, want: Pass},

		{why: "a project", probe: projectRoot, want: Pass},
		{why: "git directory", probe: projectRoot, subject: "git", want: Pass},
		{why: "gone", probe: projectRoot, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			os.RemoveAll(w.Start)
		}, want: Fail, id: "project-root-unreadable", cause: Unclear, scope: hints.UserScope, fix: `"~/repo"`},
		{why: "gone, denied by the project", probe: projectRoot, inside: true, files: map[string]string{"project": deny}, make: func(t *testing.T, w *World) {
			os.Rename(w.Start, w.Start+"2")
		}, want: Fail, id: "project-root-unreadable", cause: Unclear, scope: hints.ProjectLocalScope, fix: `/repo"`},
		{why: "gone outside", probe: projectRoot, make: func(t *testing.T, w *World) { os.RemoveAll(w.Start) }, want: Warn, cause: Other},

		{why: "no worktree", probe: gitWorktree, want: None},
		{why: "a worktree", probe: gitWorktree, make: linked, want: Pass},
		{why: "a worktree whose directory is hidden", probe: gitWorktree, inside: true, make: func(t *testing.T, w *World) {
			linked(t, w)
			os.Rename(w.Repo.GitDir, w.Repo.GitDir+"2")
		}, want: Fail, id: "git-worktree-gitdir", cause: Unclear, scope: hints.ProjectLocalScope, fix: "repo/.git"},
		{why: "the same outside", probe: gitWorktree, make: func(t *testing.T, w *World) {
			linked(t, w)
			os.Rename(w.Repo.GitDir, w.Repo.GitDir+"2")
		}, want: Warn, cause: Other},

		{why: "TMPDIR", probe: projectScratch, want: Pass},
		{why: "TMPDIR hidden", probe: projectScratch, inside: true, make: func(t *testing.T, w *World) { w.Environ = append(w.Environ, "TMPDIR=/nonexistent/x") }, want: Fail, id: "tmp-readonly", cause: Unclear},
		{why: "TMPDIR missing", probe: projectScratch, make: func(t *testing.T, w *World) { w.Environ = append(w.Environ, "TMPDIR=/nonexistent/x") }, want: Warn, cause: Other},
		{why: "TMPDIR relative", probe: projectScratch, make: func(t *testing.T, w *World) { w.Environ = append(w.Environ, "TMPDIR=x") }, want: Warn, cause: Other},
		{why: "TMPDIR a file", probe: projectScratch, make: func(t *testing.T, w *World) {
			w.Environ = append(w.Environ, "TMPDIR="+filepath.Join(w.Start, "a.txt"))
		}, want: Warn, cause: Other},
		{why: "zsh", probe: projectScratch, subject: "zsh", inside: true, make: func(t *testing.T, w *World) {
			w.Environ = append(w.Environ, "SHELL=/bin/zsh", "TMPPREFIX=/nonexistent/zsh")
		}, want: Fail, id: "zsh-heredoc-tmpprefix", cause: Unclear, scope: hints.UserScope, fix: "TMPPREFIX"},

		{why: "a home", probe: homeView, want: Pass},
		{why: "a hidden home", probe: homeView, make: func(t *testing.T, w *World) { w.Home = t.TempDir() }, want: None},

		{why: "clean", probe: phantomFiles, want: Pass},
		{why: "leftover", probe: phantomFiles, make: func(t *testing.T, w *World) { leftover(t, w, ".mcp.json") }, want: Warn, cause: Other},
		{why: "mask", probe: phantomFiles, inside: true, make: func(t *testing.T, w *World) { leftover(t, w, ".mcp.json") }, want: Fail, id: "git-phantom-files", cause: Sandbox},
		{why: "tracked", probe: phantomFiles, inside: true, make: func(t *testing.T, w *World) {
			leftover(t, w, ".empty")
			testenv.Git(t, w.Start, "add", ".empty")
		}, want: Pass},
		{why: "no directory", probe: phantomFiles, make: func(t *testing.T, w *World) { os.RemoveAll(w.Start) }, want: None},

		{why: "no hooks path", probe: gitHooks, want: None},
		{why: "hooks", probe: gitHooks, make: func(t *testing.T, w *World) {
			testenv.Write(t, filepath.Join(w.Home, "hooks/pre-commit"), "#!/bin/sh\n")
			config(t, w, "core.hooksPath", "~/hooks")
		}, want: Pass},
		{why: "hidden hooks", probe: gitHooks, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) { config(t, w, "core.hooksPath", "~/hooks") }, want: Fail, id: "git-hooks-skipped", cause: Unclear, scope: hints.UserScope, fix: `"~/hooks"`},
		{why: "a link that leads nowhere here", probe: gitHooks, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			os.Mkdir(filepath.Join(w.Home, "hooks"), 0o755)
			os.Symlink("../sync/pre-commit", filepath.Join(w.Home, "hooks/pre-commit"))
			config(t, w, "core.hooksPath", "~/hooks")
		}, want: Fail, id: "git-hooks-skipped", cause: Unclear, scope: hints.UserScope, fix: `"~/hooks","~/sync"`},
		{why: "missing everywhere", probe: gitHooks, make: func(t *testing.T, w *World) { config(t, w, "core.hooksPath", "~/hooks") }, want: Warn, cause: Other},
		{why: "no hook in it", probe: gitHooks, make: func(t *testing.T, w *World) {
			os.Mkdir(filepath.Join(w.Home, "hooks"), 0o755)
			config(t, w, "core.hooksPath", "~/hooks")
		}, want: Warn, cause: Other},

		{why: "off", probe: workingDirs, want: None},
		{why: "not listed", probe: workingDirs, files: map[string]string{"user": `{"permissions":{"blockReadsOutsideWorkingDirectories":true}}`}, want: Warn, cause: Other},
		{why: "no settings", probe: tmpdirSetting, want: None},
		{why: "set", probe: tmpdirSetting, files: map[string]string{"project": `{"env":{"TMPDIR":"/x"}}`}, want: Warn, id: "settings-env-tmpdir", cause: Sandbox},
		{why: "not set", probe: tmpdirSetting, files: map[string]string{"project": `{}`}, want: Pass},
		{why: "an old client", probe: excludedCommands, files: map[string]string{"user": `{"sandbox":{"excludedCommands":["gh *"]}}`}, make: func(t *testing.T, w *World) {
			fake(t, w, "claude", "echo '2.1.200 (Claude Code)'")
		}, want: Fail, id: "excluded-leak", cause: Sandbox},

		{why: "no agent", probe: sshAgent, want: None},
		{why: "stale", probe: sshAgent, make: func(t *testing.T, w *World) { w.Environ = append(w.Environ, "SSH_AUTH_SOCK=/nonexistent/s") }, want: Warn, cause: Other},

		{why: "not ssh", probe: signingKey, want: None},
		{why: "a key", probe: signingKey, make: func(t *testing.T, w *World) {
			testenv.Write(t, filepath.Join(w.Home, ".ssh/id.pub"), "ssh-ed25519 AAAA\n")
			config(t, w, "gpg.format", "ssh")
			config(t, w, "user.signingkey", "~/.ssh/id.pub")
		}, want: Pass},
		{why: "a hidden key", probe: signingKey, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			config(t, w, "gpg.format", "ssh")
			config(t, w, "user.signingkey", "~/.ssh/id.pub")
		}, want: Fail, id: "ssh-signing-key-unreadable", cause: Unclear, scope: hints.UserScope, fix: `"~/.ssh/id.pub"`},
		{why: "a hidden private key is never opened", probe: signingKey, inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			config(t, w, "gpg.format", "ssh")
			config(t, w, "user.signingkey", "~/.ssh/id")
		}, want: Fail, id: "ssh-signing-key-unreadable", cause: Unclear},
		{why: "a wrong key", probe: signingKey, make: func(t *testing.T, w *World) {
			config(t, w, "gpg.format", "ssh")
			config(t, w, "user.signingkey", "~/.ssh/id.pub")
		}, want: Warn, cause: Other},

		{why: "no wrapper", probe: gitWrappers, want: None},
		{why: "a wrapper", probe: gitWrappers, subject: "gpg.program", make: func(t *testing.T, w *World) {
			fake(t, w, "wrap", "")
			config(t, w, "gpg.program", "~/bin/wrap")
		}, want: Pass},
		{why: "a hidden wrapper", probe: gitWrappers, subject: "core.sshCommand", inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			config(t, w, "core.sshCommand", "~/bin/wrap ssh")
		}, want: Fail, id: "touch-wrapper-cannot-exec", cause: Unclear, scope: hints.UserScope, fix: `"~/bin/wrap"`},
		{why: "a stale link", probe: gitWrappers, subject: "gpg.program", make: func(t *testing.T, w *World) {
			os.Symlink("nowhere", filepath.Join(w.Home, "wrap"))
			config(t, w, "gpg.program", "~/wrap")
		}, want: Warn, cause: Other},

		{why: "no gh", probe: ghSandbox, make: noPath, want: None},
		{why: "offline", probe: ghSandbox, make: func(t *testing.T, w *World) { fake(t, w, "gh", "exit 1") }, want: None},
		{why: "hidden keyring", probe: ghSandbox, inside: true, make: func(t *testing.T, w *World) {
			fake(t, w, "gh", `test "$*" = "api user" && echo 'x509: OSStatus -26276' >&2; exit 1`)
			w.Offline = false
		}, want: Fail, id: "gh-in-sandbox", cause: Sandbox, scope: hints.ProjectScope, fix: "gh *"},
		{why: "asks for everything", probe: ghSandbox, subject: "ask rule", files: map[string]string{"project": `{"permissions":{"ask":["Bash(gh *)"]}}`}, make: func(t *testing.T, w *World) { fake(t, w, "gh", "") }, want: Warn, cause: Other},

		{why: "serves", probe: localhostBind, want: Pass},
		{why: "outside", probe: egress, want: None},
		{why: "no proxy", probe: egress, inside: true, make: func(t *testing.T, w *World) { w.Environ = append(w.Environ, "HTTPS_PROXY=", "https_proxy=") }, want: Warn, cause: Other},
		{why: "a proxy elsewhere is not contacted", probe: egress, inside: true, make: func(t *testing.T, w *World) {
			w.Environ = append(w.Environ, "HTTPS_PROXY=http://proxy.invalid:3128")
		}, want: None},

		{why: "no remote", probe: sshTransport, want: None},
		{why: "offline", probe: sshTransport, make: func(t *testing.T, w *World) {
			testenv.Git(t, w.Start, "remote", "add", "origin", "git@host.invalid:o/r.git")
		}, want: None},
		{why: "a fake ssh", probe: sshTransport, inside: true, make: func(t *testing.T, w *World) {
			testenv.Git(t, w.Start, "remote", "add", "origin", "ssh://git@host.invalid:2222/o/r.git")
			fake(t, w, "ssh", `case "$*" in *"-p 2222 -- git@host.invalid") echo 'ssh: Could not resolve hostname host.invalid: Name or service not known' >&2; exit 255;; esac; exit 0`)
			w.Offline = false
		}, want: Fail, id: "ssh-transport-blocked", cause: Sandbox},

		{why: "no docker", probe: containerSocket, subject: "docker", make: noPath, want: None},
		{why: "a relative path", probe: containerSocket, subject: "docker", make: func(t *testing.T, w *World) {
			fake(t, w, "docker", "")
			w.Environ = append(w.Environ, "DOCKER_HOST=unix://./run/docker.sock")
		}, want: Fail, id: "container-gateway-relative-host", cause: Other},
		{why: "another machine is not contacted", probe: containerSocket, subject: "docker", make: func(t *testing.T, w *World) {
			fake(t, w, "docker", "")
			w.Environ = append(w.Environ, "DOCKER_HOST=tcp://192.0.2.1:2375")
		}, want: None},
		{why: "a socket that is gone", probe: containerSocket, subject: "podman", make: func(t *testing.T, w *World) {
			fake(t, w, "podman", "")
			w.Environ = append(w.Environ, "CONTAINER_HOST=unix:///nonexistent/s")
		}, want: Warn, cause: Other},

		{why: "installed", probe: devTools, subject: "uv", make: func(t *testing.T, w *World) { fake(t, w, "uv", "echo uv 1.2.3") }, want: Pass},
		{why: "hidden", probe: devTools, subject: "uv", inside: true, files: map[string]string{"user": deny}, make: func(t *testing.T, w *World) {
			git := filepath.Join(w.Home, "g") // git alone, as the sandbox shows it
			os.Mkdir(git, 0o755)
			w.Environ = append(w.Environ, "PATH="+git)
		}, want: Fail, id: "devtool-not-found", cause: Unclear, scope: hints.UserScope, fix: `"~/.local/bin"`},
		{why: "hangs", probe: devTools, subject: "prek", make: func(t *testing.T, w *World) { fake(t, w, "prek", "sleep 60 & sleep 60") }, want: Warn, cause: Other},

		{why: "none installed", probe: pkgCaches, make: noPath, want: None},
		{why: "a cache", probe: pkgCaches, subject: "npm .npm", make: func(t *testing.T, w *World) {
			fake(t, w, "npm", "")
			os.Mkdir(filepath.Join(w.Home, ".npm"), 0o755)
		}, want: Pass},
		{why: "a cache that is a file", probe: pkgCaches, subject: "npm .npm", make: func(t *testing.T, w *World) {
			fake(t, w, "npm", "")
			testenv.Write(t, filepath.Join(w.Home, ".npm"), "")
		}, want: Warn, cause: Other},

		{why: "nothing wired", probe: hooksLive, want: None},
		{why: "broken settings", probe: hooksLive, files: map[string]string{"user": `{"hooks":`}, want: Warn, cause: Other},
	} {
		t.Run(tt.probe.Name+" "+tt.why, func(t *testing.T) {
			if len(tt.probe.Platforms) > 0 && !slices.Contains(tt.probe.Platforms, runtime.GOOS) {
				t.Skip("not on this system")
			}
			w := world(t, tt.inside, tt.files)
			if tt.make != nil {
				tt.make(t, w)
			}
			r := one(t, w, tt.probe, tt.subject)
			row := verdict{tt.probe.Name, tt.why, r, tt.want, tt.id, tt.cause}
			check(t, row)
			noteSeen(row)
			switch {
			case tt.scope == "" && r.Fix != nil:
				t.Errorf("suggests %+v, want nothing", *r.Fix)
			case tt.scope != "" && (r.Fix == nil || r.Fix.Scope != tt.scope || !strings.Contains(r.Fix.Settings, tt.fix)):
				t.Errorf("suggests %+v, want %s with %s", r.Fix, tt.scope, tt.fix)
			}
			if left, _ := filepath.Glob(filepath.Join(w.Home, "*", ".sallyport-doctor-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// testEveryStatus says what each probe can answer; the rows above show it.
func testEveryStatus(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("some probes run on Linux only")
	}
	never := map[string][]Status{
		"sandbox-deps":    {None},       // its platform is all it needs
		"seccomp-filter":  {Fail, None}, // an explanation of others' failures
		"project-root":    {None},       // a session always has a directory
		"home-view":       {Fail, Warn}, // observes for a comparison
		"project-scratch": {None},       // there is always a place to try
		"working-dirs":    {Fail},       // prompts, nothing fails
		"tmpdir-setting":  {Fail},       // without effect, so nothing fails
		"hooks-live":      {Fail},       // outside the sandbox, so never its doing
	}
	if len(seen) < len(Probes()) {
		t.Skip("only a part of the rows ran")
	}
	for _, p := range Probes() {
		for _, s := range []Status{Pass, Fail, Warn, None} {
			if got, want := seen[p.Name][s], !slices.Contains(never[p.Name], s); got != want && want {
				t.Errorf("%s: no row for %s", p.Name, s)
			}
		}
	}
}

func linked(t *testing.T, w *World) {
	tree := filepath.Join(w.Home, "tree")
	testenv.Git(t, w.Start, "worktree", "add", "-q", tree)
	next, err := NewWorld(w.Environ, tree, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	next.Inside, next.Offline = w.Inside, w.Offline
	*w = *next
}

func leftover(t *testing.T, w *World, name string) {
	path := filepath.Join(w.Start, name)
	testenv.Write(t, path, "")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
}

// TestAgentProtocol talks to a real socket.
func TestAgentProtocol(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string
		keys   int
		err    error
	}{
		{"two keys", "\x00\x00\x00\x05\x0c\x00\x00\x00\x02", 2, nil},
		{"no keys", "\x00\x00\x00\x05\x0c\x00\x00\x00\x00", 0, nil},
		{"failure", "\x00\x00\x00\x01\x05", 0, errProtocol},
		{"hangs up", "", 0, errProtocol},
		{"speaks HTTP", "HTTP/1.0 400 Bad Request\r\n\r\n", 0, errProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := serveUnix(t, tt.answer)
			keys, err := askAgent(t.Context(), path)
			if keys != tt.keys || !errors.Is(err, tt.err) {
				t.Errorf("got %d, %v; want %d, %v", keys, err, tt.keys, tt.err)
			}
		})
	}
}

func serveUnix(t *testing.T, answer string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sp") // t.TempDir is too long for a socket on some systems
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no unix sockets: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 256))
			conn.Write([]byte(answer))
			conn.Close()
		}
	}()
	return path
}

func TestContainerSocket(t *testing.T) {
	for answer, want := range map[string]Status{
		"HTTP/1.0 200 OK\r\n\r\nOK":        Pass,
		"HTTP/1.1 502 Bad Gateway\r\n\r\n": Warn,
		"garbage":                          Warn,
		"":                                 Warn,
	} {
		path := serveUnix(t, answer)
		status, err := ping(t.Context(), path)
		if r := judgeContainer(&World{Home: "/home/u"}, path, false, status, err); r.Status != want {
			t.Errorf("answer %q: %s (%s), want %s", answer, r.Status, r.Evidence, want)
		}
	}
}

// TestEgress talks to a proxy on this machine.
func TestEgress(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	got := make(chan string, 2)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 1024)
			n, _ := conn.Read(buf)
			first, _, _ := strings.Cut(string(buf[:n]), "\r\n")
			got <- first
			if strings.Contains(first, canary) {
				conn.Write([]byte("HTTP/1.1 403 Forbidden\r\n\r\n"))
			} else {
				conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
			}
			conn.Close()
		}
	}()
	w := world(t, true, map[string]string{"project": `{"sandbox":{"network":{"allowedDomains":["*.example.org","localhost","10.0.0.1","-x.invalid","example.com"]}}}`})
	w.Environ = append(w.Environ, "HTTPS_PROXY=http://srt:secret@"+l.Addr().String())
	if r := one(t, w, egress, "canary"); r.Status != Pass {
		t.Errorf("canary: %+v", r)
	}
	if first := <-got; first != "CONNECT allowlist-canary.invalid:443 HTTP/1.1" {
		t.Errorf("asked %q", first)
	}
	if len(got) != 0 {
		t.Errorf("offline, yet it asked %q", <-got)
	}
	w.Offline = false
	if r := one(t, w, egress, "allowed"); r.Status != Pass || !strings.Contains(r.Evidence, "example.com") {
		t.Errorf("allowed: %+v", r)
	}
}

func TestSSHRemote(t *testing.T) {
	for _, tt := range []struct {
		url  string
		want string
	}{
		{"git@github.com:o/r.git", "git@github.com "},
		{"github.com:o/r", "@github.com "},
		{"ssh://git@h.example:22/o/r", "git@h.example 22"},
		{"https://github.com/o/r", ""},
		{"/srv/git/r", ""},
		{"C:/git/r", ""},
		{"./a:b", ""},
		{"-oProxyCommand=touch x:y", ""},
		{"ssh://-oProxyCommand=x/y", ""},
		{"x@-oProxyCommand=x:y", ""},
		{"-x@host:y", ""},
		{"a b@host:y", ""},
		{"ssh://h:2$2/x", ""},
	} {
		a, ok := sshRemote("remote.origin.url " + tt.url + "\n")
		got := ""
		if ok {
			got = a.user + "@" + a.host + " " + a.port
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.url, got, tt.want)
		}
	}
}

// A probe that hangs or panics is one line of the report, no more.
func TestProbesCannotHurtEachOther(t *testing.T) {
	w := &World{Home: "/home/u", debugf: t.Logf}
	hang := Probe{Name: "hang", Run: func(context.Context, *World) []Result { select {} }}
	if r := runOne(t.Context(), w, hang, 10*time.Millisecond); len(r) != 1 || r[0].Status != Warn || r[0].Probe != "hang" {
		t.Errorf("%+v", r)
	}
	crash := Probe{Name: "crash", Run: func(context.Context, *World) []Result { panic("x\x1b[31m") }}
	if r := runOne(t.Context(), w, crash, time.Second); len(r) != 1 || r[0].Status != Warn || strings.Contains(r[0].Evidence, "\x1b") {
		t.Errorf("%+v", r)
	}
}

func TestOutputIsBoundedAndHarmless(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	w := world(t, false, nil)
	sh, _ := w.lookPath("sh")
	o := w.run(t.Context(), 5*time.Second, "", sh, "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3")
	if len(o.stdout) > maxOutput || len(o.stderr) > maxOutput || o.exit == nil || *o.exit != 3 {
		t.Errorf("%d and %d bytes, exit %v", len(o.stdout), len(o.stderr), o.exit)
	}
	o = w.run(t.Context(), 200*time.Millisecond, "", sh, "-c", "sleep 30 & sleep 30")
	if !o.timeout {
		t.Errorf("a program that hangs: %+v", o)
	}
	r := finish(Probe{Name: "p"}, []Result{warn("a\x1b]0;x\x07b\r\n\u202ec %s", strings.Repeat("y", 5000))})[0]
	if strings.ContainsAny(r.Evidence, "\x1b\r\n\x07\u202e") || len(r.Evidence) > 500 {
		t.Errorf("evidence %q", r.Evidence)
	}
}

func TestFixesOpenNothingTheyMustNot(t *testing.T) {
	w := world(t, true, nil)
	for path, want := range map[string]bool{
		w.Home: false, "/": false, filepath.Dir(w.Home): false,
		w.Home + "/.ssh": false, w.Home + "/.ssh/id": false, w.Home + "/.ssh/id.pub": true,
		w.Home + "/.aws": false, w.Home + "/.aws/x": false, w.Home + "/.docker/config.json": false,
		w.Home + "/.cache": true, w.Home + "/repo": true, w.Home + "/a*": false,
	} {
		if got := grant(w, []string{path}, nil) != nil; got != want {
			t.Errorf("grant %s: %v, want %v", path, got, want)
		}
	}
}

// A snapshot from inside was written by the agent's session.
func TestWantedBelievesNoSnapshot(t *testing.T) {
	w := world(t, false, nil)
	for text, want := range map[string]bool{
		`{"sandbox":{"filesystem":{"allowRead":["~/hooks"]}}}`:                        true,
		`{"sandbox":{"filesystem":{"allowRead":["~/.npm"],"allowWrite":["~/.npm"]}}}`: true,
		`{"sandbox":{"excludedCommands":["gh *"]}}`:                                   true,
		`{"sandbox":{"excludedCommands":["*"]}}`:                                      false,
		`{"sandbox":{"enabled":false}}`:                                               false,
		`{"sandbox":{"filesystem":{"allowRead":["~/"]}}}`:                             false,
		`{"sandbox":{"filesystem":{"allowRead":["/"]}}}`:                              false,
		`{"sandbox":{"filesystem":{"allowRead":["~/x/../.aws"]}}}`:                    false,
		`{"sandbox":{"filesystem":{"allowRead":["~/.ssh/id"]}}}`:                      false,
		`{"sandbox":{"filesystem":{"allowRead":["` + w.Home + `/x/../.aws"]}}}`:       false,
		`{"sandbox":{"filesystem":{"denyRead":["~/x"]}}}`:                             false,
		`{"sandbox":{"filesystem":{"allowRead":["~/x"]},"enabled":false}}`:            false,
		`{"sandbox":{"filesystem":{"allowRead":["~/x"]}},"hooks":{}}`:                 false,
		`{"sandbox":{"filesystem":{"allowRead":["x"]}}}`:                              false,
		`{"sandbox":{"filesystem":{"allowRead":"~/x"}}}`:                              false,
		`{"sandbox":{"filesystem":{"allowRead":["~/x"],"allowRead":["/"]}}}`:          false,
		`{"permissions":{"allow":["Bash"]}}`:                                          false,
		`{"env":{"LD_PRELOAD":"/tmp/x.so"}}`:                                          false,
		``:                                                                            false,
	} {
		then := Snapshot{Inside: true, Results: []Result{{Probe: "p", Status: Fail, Fix: &Fix{Scope: hints.UserScope, File: "/etc/passwd", Settings: text}}}}
		got := Wanted(w, []Result{{Probe: "p", Status: Pass}}, then)
		if (len(got) == 1) != want {
			t.Errorf("%s: taken %v, want %v", text, len(got) == 1, want)
		}
		for _, r := range got {
			if r.Fix.File != filepath.Join(w.Home, ".claude/settings.json") {
				t.Errorf("goes to %s", r.Fix.File)
			}
		}
	}
}

// Every probe that the catalogue names exists, and every failure that a probe
// names is in the catalogue, as one of that probe's or one that prints nothing.
func TestCatalogueAndProbesAgree(t *testing.T) {
	probes := map[string]Probe{}
	for _, p := range Probes() {
		if probes[p.Name].Name != "" {
			t.Errorf("%s stands twice", p.Name)
		}
		probes[p.Name] = p
		for _, text := range []string{p.Title, p.Does, p.Sandbox, p.Other} {
			if text == "" {
				t.Errorf("%s lacks a text", p.Name)
			}
		}
		for _, id := range p.Failures {
			if _, ok := silent(id); !ok && hints.Find(hints.Builtin(), id) == nil {
				t.Errorf("%s names %s, which nothing explains", p.Name, id)
			}
		}
	}
	for _, e := range hints.Builtin() {
		if _, ok := probes[e.Probe]; !ok && e.Probe != "none" {
			t.Errorf("%s is probed by %s, which does not exist", e.ID, e.Probe)
		}
	}
}
