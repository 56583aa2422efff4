package hints

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// specs returns the built-in catalogue with its samples.
func specs(t testing.TB) []Spec {
	t.Helper()
	raw, err := os.ReadFile("catalog.toml")
	if err != nil {
		t.Fatal(err)
	}
	f, problems := Parse("catalog.toml", raw)
	for _, p := range problems {
		t.Error(p)
	}
	return f.Specs
}

// hint is what a session on goos is told about an output.
func hint(text, goos string, state Sandbox) *Hint {
	text = Text(text)
	found := Scan(text, OnPlatform(Builtin(), goos))
	return Select(text, found, func() Sandbox { return state })
}

func TestSamplesSelectTheirEntry(t *testing.T) {
	all := specs(t)
	if len(all) != len(Builtin()) || len(all) < 41 {
		t.Fatalf("%d specs, %d built-in entries, want as many and at least 41", len(all), len(Builtin()))
	}
	for _, s := range all {
		if len(s.Positives) == 0 || len(s.Negatives) == 0 {
			t.Errorf("%s has no positive or no negative sample", s.ID)
		}
		for _, goos := range s.Platforms {
			for _, sample := range s.Positives {
				// Alone, in the middle of other output, with CRLF, in colour,
				// and behind binary rubbish.
				for _, text := range []string{
					sample,
					"building\nline two\n" + sample + "\nmore\n",
					"one\r\n" + strings.ReplaceAll(sample, "\n", "\r\n") + "\r\nthree",
					"\x1b[31m" + sample[:1] + "\x1b[0m\x1b[1m" + sample[1:] + "\x1b[0m",
					"\x00\xff\xfe\n" + sample + "\n\xc3",
				} {
					h := hint(text, goos, SandboxOn)
					if h == nil || h.Entry.ID != s.ID {
						t.Errorf("%s: %q selects %v, want %s", goos, text, id(h), s.ID)
					}
				}
			}
		}
		for _, sample := range s.Negatives {
			if m := Scan(Text(sample), []*Entry{&s.Entry}); len(m) > 0 {
				t.Errorf("%s: negative %q matches %s", s.ID, sample, m[0].Expr)
			}
		}
	}
}

func id(h *Hint) string {
	if h == nil {
		return "nothing"
	}
	return h.Entry.ID
}

func TestOrderOfEntries(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"the overlay's state is why the agent refused", "/tmp/sallyport-touch/watcher.pid: Operation not permitted\nsign_and_send_pubkey: signing failed for ED25519: agent refused operation", "touch-overlay-state-denied"},
		{"wherever the agent's line stands", "agent refused operation\n/home/u/.cache/sallyport-touch/watcher.pid: Read-only file system", "touch-overlay-state-denied"},
		{"git's own index before any read-only file", "fatal: Unable to create '/home/u/p/.git/index.lock': Read-only file system", "git-index-readonly"},
		{"a worktree's index before the repository's", "fatal: Unable to create '/home/u/p/.git/worktrees/w/index.lock': Read-only file system", "git-worktree-gitdir"},
		{"git's configuration before any read-only file", "error: could not lock config file /home/u/.gitconfig: Read-only file system", "git-config-lock"},
		{"the gateway before the daemon", "Cannot connect to the Docker daemon at unix:///p/.sallyport-local/run/docker.sock\ndial unix /p/.sallyport-local/run/docker.sock: connect: no such file or directory", "container-gateway-down"},
		{"the gateway's rule before the daemon", "Error response from daemon: container-gateway: privileged: drop --privileged\nCannot connect to the Docker daemon at x", "container-gateway-denied"},
		{"ssh before name resolution", "ssh: Could not resolve hostname github.com: Temporary failure in name resolution", "ssh-transport-blocked"},
		{"name resolution by itself", "curl: (6) Could not resolve host: example.com", "dns-in-sandbox"},
		{"/tmp before any read-only file", "touch: cannot touch '/tmp/x': Read-only file system", "tmp-readonly"},
		{"a cache before any read-only file", "error: failed to create directory `/home/u/.cargo/registry/index`: Read-only file system (os error 30)", "pkg-cache-denied"},
	}
	for _, tt := range tests {
		if got := id(hint(tt.text, "linux", SandboxOn)); got != tt.want {
			t.Errorf("%s: %q selects %s, want %s", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestTextsThatAreNotTheSandbox(t *testing.T) {
	for _, text := range []string{
		"HTTP/2 403",
		"fatal: unable to access 'https://github.com/a/b/': The requested URL returned error: 403",
		"gh: API rate limit exceeded for user ID 1. (HTTP 403)",
		"Error: listen EADDRINUSE: address already in use 127.0.0.1:3000",
		"listen tcp :8080: bind: address already in use",
		"bash: ./deploy.sh: Permission denied",
		"bash: docker: command not found",
		"zsh: command not found: uvicorn",
		"bash: prekx: command not found",
		"bash: line 1: /usr/bin/uv2: not found",
		"Permission denied, please try again.",
		"git@github.com: Permission denied (keyboard-interactive).",
		"fatal: Unable to create '/p/.git/index.lock': File exists.",
		"npm ERR! code E404",
		"npm ERR! EACCES: permission denied, mkdir '/usr/lib/node_modules/foo'",
		"ssh: connect to host 10.0.0.1 port 22: Connection timed out",
		"ssh: connect to host example.com port 22: Connection refused",
		"dial tcp 10.0.0.5:5432: connect: connection refused",
		"listen tcp :443: bind: permission denied",
		"panic: runtime error: index out of range [5] with length 3",
		"cp: cannot create regular file '/mnt/cdrom/x': No space left on device",
		"gpg: signing failed: Bad passphrase",
		"x509: certificate signed by unknown authority",
		"Error response from daemon: pull access denied for x",
		"fatal: not a git repository (or any of the parent directories): .git",
		"diff: /dev/fd/63: No such file or directory",
		"rm: cannot remove '/usr/bin/x': Operation not permitted",
		"\x00\x01\x02\xff\xfe binary",
		"",
	} {
		for _, goos := range []string{"linux", "darwin"} {
			if h := hint(text, goos, SandboxOn); h != nil {
				t.Errorf("%s: %q selects %s, want nothing", goos, text, h.Entry.ID)
			}
		}
	}
}

func TestGates(t *testing.T) {
	const (
		none      = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
		onUnknown = "Could not open a connection to your authentication agent."
		on        = "curl: (6) Could not resolve host: example.com"
	)
	tests := []struct {
		text  string
		state Sandbox
		want  string
		off   bool
	}{
		{none, SandboxOn, "bwrap-loopback-denied", false},
		{none, SandboxUnknown, "bwrap-loopback-denied", false},
		{none, SandboxOff, "bwrap-loopback-denied", false},
		{onUnknown, SandboxOn, "ssh-agent-unreachable", false},
		{onUnknown, SandboxUnknown, "ssh-agent-unreachable", false},
		{onUnknown, SandboxOff, "ssh-agent-unreachable", true},
		{on, SandboxOn, "dns-in-sandbox", false},
		{on, SandboxUnknown, "nothing", false},
		{on, SandboxOff, "nothing", false},
	}
	for _, tt := range tests {
		h := hint(tt.text, "linux", tt.state)
		if id(h) != tt.want {
			t.Errorf("sandbox %s: %q selects %s, want %s", tt.state, tt.text, id(h), tt.want)
			continue
		}
		if h != nil && (h.NotTheCause != tt.off || strings.Contains(h.Text("x", false), offLine) != tt.off) {
			t.Errorf("sandbox %s: %q says %q, want not-the-cause %v", tt.state, tt.text, h.Text("x", false), tt.off)
		}
	}
}

func TestTheSandboxIsAskedOnlyWhenItMatters(t *testing.T) {
	text := "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
	Select(text, Scan(text, Builtin()), func() Sandbox {
		t.Error("asked for an entry without a gate")
		return SandboxOn
	})
	asked := 0
	text = "Could not open a connection to your authentication agent.\nCould not resolve host: x.example"
	Select(text, Scan(text, Builtin()), func() Sandbox { asked++; return SandboxOn })
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

func TestPlatformFilter(t *testing.T) {
	mac := "Check failed: bootstrap_check_in org.chromium.Chromium.MachPortRendezvousServer.1: Permission denied (1100)"
	if h := hint(mac, "linux", SandboxOn); h != nil {
		t.Errorf("linux: %q selects %s, an entry for darwin", mac, h.Entry.ID)
	}
	if got := id(hint(mac, "darwin", SandboxOn)); got != "chromium-mach-port" {
		t.Errorf("darwin: %q selects %s, want chromium-mach-port", mac, got)
	}
	if h := hint("bwrap: setting up uid map: Permission denied", "windows", SandboxOn); h != nil {
		t.Errorf("windows: selects %s, want nothing", h.Entry.ID)
	}
}

func TestAlsoSeen(t *testing.T) {
	text := `Could not open a connection to your authentication agent.
permission denied while trying to connect to the Docker daemon socket
Error: listen EPERM: operation not permitted 0.0.0.0:3000
curl: (56) CONNECT tunnel failed, response 403
mkdir: cannot create directory '/srv/x': Read-only file system`
	h := hint(text, "linux", SandboxOn)
	var also []string
	for _, e := range h.Also {
		also = append(also, e.ID)
	}
	if want := []string{"container-socket-denied", "loopback-bind-denied"}; id(h) != "ssh-agent-unreachable" || !slices.Equal(also, want) {
		t.Errorf("selects %s and also %v, want ssh-agent-unreachable and %v", id(h), also, want)
	}
	h = hint("bash: uv: command not found\nmkdir: cannot create directory '/srv/x': Read-only file system", "linux", SandboxOn)
	if id(h) != "devtool-not-found" || len(h.Also) != 0 {
		t.Errorf("selects %s and also %d, want devtool-not-found without the fall-back", id(h), len(h.Also))
	}
}

func TestCredentialDenialIsProtection(t *testing.T) {
	for text, protects := range map[string]bool{
		"cat: /Users/u/.aws/credentials: Operation not permitted":                                                          true,
		"cat: /Users/u/.netrc: Operation not permitted":                                                                    true,
		"PermissionError: [Errno 1] Operation not permitted: '/Users/u/.kube/config'":                                      true,
		"cat: /Users/u/.foorc: Operation not permitted\ncat: /Users/u/.ssh/id_ed25519: Operation not permitted":            true,
		"cat: /Users/u/.vimrc: Operation not permitted":                                                                    false,
		"cat: /Users/u/.awsome/x: Operation not permitted":                                                                 false,
		"cat: /Users/u/.vimrc: Operation not permitted\nwrote the documentation of /Users/u/.aws to a file, all permitted": false,
	} {
		h := hint(text, "darwin", SandboxOn)
		if id(h) != "home-read-denied" || h.Protection != protects {
			t.Errorf("%q selects %s, protection %v; want home-read-denied, %v", text, id(h), h != nil && h.Protection, protects)
			continue
		}
		if model := h.ModelText("x"); strings.Contains(model, "allowRead") == protects {
			t.Errorf("%q: the model is told %q, protection %v", text, model, protects)
		}
	}
}

// The documentation of every entry is read by people and models: it must be
// whole, and its settings must not be what it warns of.
func TestEntriesAreWhole(t *testing.T) {
	anchor := regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	for _, e := range Builtin() {
		if !anchor.MatchString(e.ID) || e.Title == "" || e.Cause == "" || e.Fix.Line == "" || e.Probe == "" {
			t.Errorf("%s: a field is missing", e.ID)
		}
		if strings.ContainsAny(e.Title[len(e.Title)-1:], ".!?") || strings.HasSuffix(e.Fix.Line, ".") {
			t.Errorf("%s: title or fix line ends a sentence that the hint ends", e.ID)
		}
		if e.Confidence != High && e.Lookalikes == "" && e.ID != "bwrap-mountpoint" && e.ID != "git-phantom-files" && e.ID != "proxy-unstable" {
			t.Errorf("%s: confidence %s without look-alikes", e.ID, e.Confidence)
		}
		for _, sig := range e.Signatures {
			if len(sig.Words) == 0 {
				t.Errorf("%s: %s would be tried on every text", e.ID, sig.Expr)
			}
		}
	}
}
