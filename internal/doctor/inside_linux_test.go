package doctor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sallyport/internal/testenv"
)

// unixFilter is what the client's sandbox loads: a seccomp program that
// refuses socket(AF_UNIX, …) with EPERM and lets everything else through.
func unixFilter(t *testing.T) *os.File {
	t.Helper()
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(unix.SYS_SOCKET), Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // low half of its first argument
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AF_UNIX, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(syscall.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, program); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "filter")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// inBwrap runs this test binary's probes in a sandbox made the way the client
// makes its own: everything read-only, the home directory empty but for what is
// allowed, no network but loopback, no unix sockets.
func inBwrap(t *testing.T, w *World, dir string, visible, writable []string, environ ...string) Snapshot {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bwrap is not installed")
	}
	if out, err := exec.Command(bwrap, "--ro-bind", "/", "/", "--unshare-user", "--unshare-net", "--dev", "/dev", "--proc", "/proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no sandbox can be made here: %s", out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--unshare-user", "--unshare-pid", "--unshare-net", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", w.Home}
	for _, path := range visible {
		args = append(args, "--ro-bind", path, path)
	}
	for _, path := range writable {
		args = append(args, "--bind", path, path)
	}
	args = append(args, "--remount-ro", w.Home, "--ro-bind", self, self, "--seccomp", "3", self)
	cmd := exec.Command(bwrap, args...)
	cmd.Env = append(append(w.Environ, "DOCTOR_PROBE_DIR="+dir, "CLAUDECODE=1"), environ...)
	cmd.ExtraFiles = []*os.File{unixFilter(t)}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var s Snapshot
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatalf("%v\n%s", err, &stdout)
	}
	return s
}

// TestInsideASandbox compares both sides of a real wall.
func TestInsideASandbox(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the filter is written for little-endian 64-bit machines")
	}
	w := world(t, false, map[string]string{"user": `{"sandbox":{"enabled":true,"filesystem":{"denyRead":["~/"]}}}`})
	home := w.Home
	scratch, err := os.MkdirTemp("/tmp", "claude-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(scratch) })
	tree := filepath.Join(home, "tree")
	testenv.Git(t, w.Start, "worktree", "add", "-q", tree)
	testenv.Write(t, filepath.Join(home, ".ssh/id.pub"), "ssh-ed25519 AAAA\n")
	testenv.Write(t, filepath.Join(home, "hooks/pre-commit"), "#!/bin/sh\n")
	testenv.Write(t, filepath.Join(home, "bin/npm"), "#!/bin/sh\n")
	testenv.Write(t, filepath.Join(home, "bin/docker"), "#!/bin/sh\n")
	for _, name := range []string{"npm", "docker"} {
		if err := os.Chmod(filepath.Join(home, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Write(t, filepath.Join(home, ".npm/x"), "")
	for key, value := range map[string]string{"core.hooksPath": "~/hooks", "gpg.format": "ssh", "user.signingkey": "~/.ssh/id.pub"} {
		testenv.Git(t, home, "config", "--file", filepath.Join(home, ".gitconfig"), key, value)
	}
	agent := serveUnix(t, "\x00\x00\x00\x05\x0c\x00\x00\x00\x02")
	daemon := serveUnix(t, "HTTP/1.0 200 OK\r\n\r\n")
	proxy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	environ := append(w.Environ, "SSH_AUTH_SOCK="+agent, "DOCKER_HOST=unix://"+daemon, "PATH="+filepath.Join(home, "bin")+":"+w.Getenv("PATH"))
	outside, err := NewWorld(environ, tree, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	outside.Offline = true
	if outside.Inside {
		t.Skipf("the tests themselves run in a sandbox: %v", outside.Evidence)
	}
	before := Run(t.Context(), outside, Probes())
	visible := []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".claude"), filepath.Join(home, "bin"), filepath.Join(home, ".npm"), filepath.Join(w.Start, ".git")}
	s := inBwrap(t, outside, tree, visible, []string{tree, scratch}, "TMPDIR="+scratch, "HTTPS_PROXY=http://srt:x@"+proxy.Addr().String())
	if !s.Inside {
		t.Fatalf("a process in the sandbox does not know it")
	}
	find := func(results []Result, key string) Result {
		for _, r := range results {
			if r.Key() == key {
				return r
			}
		}
		t.Fatalf("no result about %s", key)
		return Result{}
	}
	for _, tt := range []struct {
		key     string
		outside Status
		inside  Status
		id      string
		cause   Cause
		fix     string
	}{
		{"sandbox-active", None, Pass, "", "", ""},
		{"bwrap-userns", Pass, None, "", "", ""},
		{"seccomp-filter", Pass, Pass, "", "", ""},
		{"pipes", Pass, Pass, "", "", ""},
		{"project-root", Pass, Pass, "", "", ""},
		{"project-scratch", Pass, Pass, "", "", ""},
		{"git-worktree", Pass, Fail, "git-worktree-gitdir", Sandbox, "/repo/.git"},
		{"git-hooks", Pass, Fail, "git-hooks-skipped", Unclear, "~/hooks"},
		{"signing-key", Pass, Fail, "ssh-signing-key-unreadable", Unclear, "~/.ssh/id.pub"},
		{"ssh-agent", Pass, Fail, "ssh-agent-unreachable", Sandbox, ""},
		{"container-gateway(docker)", Pass, Fail, "container-socket-denied", Sandbox, ""},
		{"localhost-bind", Pass, Pass, "", "", ""},
		{"localhost-bind(unix)", Pass, Warn, "unix-listen-denied", Sandbox, ""},
		{"pkg-caches(npm .npm)", Pass, Fail, "pkg-cache-denied", Sandbox, "~/.npm"},
		{"egress(canary)", "", Warn, "", Other, ""},
	} {
		if tt.outside != "" {
			if r := find(before, tt.key); r.Status != tt.outside {
				t.Errorf("outside, %s: %s (%s), want %s", tt.key, r.Status, r.Evidence, tt.outside)
			}
		}
		r := find(s.Results, tt.key)
		row := verdict{tt.key, "inside", r, tt.inside, tt.id, tt.cause}
		check(t, row)
		if got := r.Fix != nil; got != (tt.fix != "") || got && !strings.Contains(r.Fix.Settings, tt.fix) {
			t.Errorf("inside, %s suggests %+v, want %q", tt.key, r.Fix, tt.fix)
		}
	}
	diffs, _ := Compare(s.Results, true, Snapshot{Results: before})
	verdicts := map[string]Difference{}
	var hiddenPaths []string
	for _, d := range diffs {
		if strings.HasPrefix(d.Verdict, "~/") {
			hiddenPaths = append(hiddenPaths, d.Verdict)
			continue
		}
		if _, twice := verdicts[d.Key()]; !twice {
			verdicts[d.Key()] = d
		}
	}
	for _, key := range []string{"git-worktree", "git-hooks", "signing-key", "ssh-agent", "container-gateway(docker)", "pkg-caches(npm .npm)"} {
		if d := verdicts[key]; !d.Sandbox || d.Cause != Sandbox || !strings.Contains(d.Verdict, "caused by the sandbox") || d.Outside == nil || d.Outside.Status != Pass {
			t.Errorf("%s: %+v", key, d)
		}
	}
	if text := strings.Join(hiddenPaths, "\n"); !strings.Contains(text, "~/.ssh: a directory outside (then), missing inside (now): the sandbox hides it") {
		t.Errorf("hidden paths:\n%s", text)
	}
	// The other way round, from outside with a snapshot from inside.
	diffs, _ = Compare(before, false, s)
	found := false
	for _, d := range diffs {
		found = found || d.Key() == "git-worktree" && d.Sandbox
	}
	if !found {
		t.Errorf("compared from outside: %+v", diffs)
	}
}

// A project that can be written and not read is what a denied home leaves.
func TestInsideReadOnlyProject(t *testing.T) {
	w := world(t, false, nil)
	s := inBwrap(t, w, w.Start, []string{w.Start}, nil, "TMPDIR=/tmp/claude-x")
	for _, r := range s.Results {
		switch r.Key() {
		case "project-root":
			check(t, verdict{r.Probe, "a read-only project", r, Fail, "project-root-unreadable", Sandbox})
		case "project-root(git)":
			check(t, verdict{r.Probe, "a read-only project", r, Fail, "git-index-readonly", Sandbox})
		case "project-scratch":
			check(t, verdict{r.Probe, "no scratch directory", r, Fail, "tmp-readonly", Unclear})
		}
	}
}
