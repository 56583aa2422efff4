package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sallyport/internal/childproc"
	"sallyport/internal/hints"
	"sallyport/settings"
)

var bwrapUserns = Probe{
	Name:      "bwrap-userns",
	Title:     "bubblewrap can make a sandbox on this machine",
	Does:      "runs `bwrap --ro-bind / / --unshare-net --dev /dev --proc /proc true`, and reads the kernel's switches for user namespaces and the names of loaded AppArmor profiles.",
	Sandbox:   "never: this is the machine. Inside a sandbox it is not probed, since one was made",
	Other:     "AppArmor, a sysctl or a container refuses; the text of the refusal says which",
	Failures:  []string{"bwrap-loopback-denied", "userns-disabled", "bwrap-proc-mount", "bwrap-mountpoint"},
	Platforms: []string{"linux"},
	Run: func(ctx context.Context, w *World) []Result {
		if w.Inside {
			return []Result{none("the sandbox is up, so bubblewrap works here")}
		}
		program, ok := w.lookPath("bwrap")
		if v := w.Settings.String("sandbox.bwrapPath"); v.Set && v.Source.Scope == settings.Managed && filepath.IsAbs(v.Value) {
			program, ok = v.Value, true
		}
		if !ok {
			return []Result{none("bwrap is not on PATH")}
		}
		o := w.run(ctx, 10*time.Second, "", program, "--ro-bind", "/", "/", "--unshare-net", "--dev", "/dev", "--proc", "/proc", "true")
		r := judgeBwrap(o).with(kernelFacts(os.ReadFile))
		if r.Status == Fail {
			// No setting makes bubblewrap work; this one keeps a session without it from starting.
			r.Fix = userFix(w, `{"sandbox":{"failIfUnavailable":true}}`)
		}
		return []Result{r}
	},
}

func judgeBwrap(o outcome) Result {
	if o.ok() {
		return pass("bwrap starts a program with its own network").ran(o)
	}
	text := hints.Text(o.stderr)
	for _, m := range hints.Scan(text, hints.OnPlatform(hints.Builtin(), "linux")) {
		if m.Entry.Probe == "bwrap-userns" {
			return fail(m.Entry.ID, Other, "%s", text[m.Start:m.End]).ran(o)
		}
	}
	return warn("bwrap: %s", strings.TrimPrefix(o.say(), "bwrap: ")).ran(o)
}

// kernelFacts reads the switches that decide about user namespaces.
func kernelFacts(readFile func(string) ([]byte, error)) map[string]string {
	facts := map[string]string{}
	for _, name := range []string{"kernel/apparmor_restrict_unprivileged_userns", "kernel/unprivileged_userns_clone", "user/max_user_namespaces"} {
		if value, err := readFile("/proc/sys/" + name); err == nil {
			facts["sysctl "+strings.ReplaceAll(name, "/", ".")] = strings.TrimSpace(string(value))
		}
	}
	if profiles, err := readFile("/sys/kernel/security/apparmor/profiles"); err == nil {
		var names []string
		for line := range strings.Lines(string(profiles)) {
			if strings.Contains(line, "bwrap") && len(names) < 10 {
				names = append(names, strings.TrimSpace(line))
			}
		}
		facts["AppArmor profiles for bwrap"] = strings.Join(names, ", ")
	}
	return facts
}

var sandboxDeps = Probe{
	Name:      "sandbox-deps",
	Title:     "the sandbox's programs are where the client looks",
	Does:      "looks for bwrap and socat on the PATH that the client was started with (that of the process CLAUDE_PID names, where it can be read), not on the shell's.",
	Sandbox:   "never: this is the machine",
	Other:     "not installed, or installed in a directory that a graphical launcher's PATH lacks",
	Failures:  []string{"sandbox-deps-missing"},
	Platforms: []string{"linux"},
	Run: func(ctx context.Context, w *World) []Result {
		path, whose := w.Getenv("PATH"), "PATH"
		if theirs, ok := clientPath(w.Getenv("CLAUDE_PID")); ok {
			path, whose = theirs, "the client's PATH"
		}
		find := func(path, name string) bool {
			_, ok := childproc.LookPath(name, func(string) string { return path })
			return ok
		}
		d := deps{whose: whose, off: w.Settings.Sandbox().State == settings.SandboxOff}
		for _, name := range []string{"bwrap", "socat"} {
			switch key := name + "Path"; {
			case w.Settings.String("sandbox."+key).Set && w.Settings.String("sandbox."+key).Source.Scope == settings.Managed:
			case find(path, name):
			case find(w.Getenv("PATH"), name):
				d.elsewhere = append(d.elsewhere, name)
				d.missing = append(d.missing, name)
			default:
				d.missing = append(d.missing, name)
			}
		}
		r := judgeDeps(d)
		if r.Status == Fail {
			r.Fix = userFix(w, `{"sandbox":{"failIfUnavailable":true}}`)
		}
		return []Result{r}
	},
}

type deps struct {
	whose              string
	missing, elsewhere []string
	off                bool // the settings want no sandbox
}

func judgeDeps(d deps) Result {
	switch {
	case len(d.missing) == 0:
		return pass("bwrap and socat are on %s", d.whose)
	case d.off:
		return warn("%s not on %s; the sandbox is off and could not be switched on", strings.Join(d.missing, ", "), d.whose).
			advise("install bubblewrap and socat first")
	case len(d.elsewhere) > 0:
		return fail("sandbox-deps-missing", Other, "%s on this shell's PATH but not on %s", strings.Join(d.elsewhere, ", "), d.whose)
	}
	return fail("sandbox-deps-missing", Other, "%s not on %s", strings.Join(d.missing, ", "), d.whose)
}

// clientPath is the PATH of another process of this account.
func clientPath(pid string) (string, bool) {
	if pid == "" || strings.Trim(pid, "0123456789") != "" || len(pid) > 10 {
		return "", false
	}
	f, err := os.Open(fmt.Sprintf("/proc/%s/environ", pid))
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if path, ok := bytes.CutPrefix(entry, []byte("PATH=")); ok {
			return string(path), true
		}
	}
	return "", false
}

var seccompFilter = Probe{
	Name:      "seccomp-filter",
	Title:     "which kinds of socket may be made",
	Does:      "makes a unix and an internet socket and closes them.",
	Sandbox:   "a unix socket is refused and the other is not: the filter is active, and that is why agents and container daemons cannot be reached from inside",
	Other:     "outside, a container's own filter",
	Platforms: []string{"linux"},
	Run: func(ctx context.Context, w *World) []Result {
		return []Result{judgeSockets(w.Inside, socketErr(true), socketErr(false))}
	},
}

func judgeSockets(inside bool, unix, inet error) Result {
	switch {
	case unix == nil && inet == nil && inside:
		return warn("unix sockets can be made inside the sandbox: every daemon whose socket can be reached is reachable").
			advise("expected with sandbox.network.allowAllUnixSockets; without it the client's filter is not active")
	case unix == nil && inet == nil:
		return pass("both kinds of socket can be made")
	case inet != nil:
		return warn("no internet socket: %s", reason(inet))
	case inside:
		return pass("the filter is active: no unix sockets inside, which is why ssh, gpg and container programs cannot reach their daemons")
	}
	return warn("unix sockets are refused outside the sandbox too: %s", reason(unix)).advise("this machine or container has a filter of its own")
}

func goos() string { return runtime.GOOS }

func systemIsLinux() bool { return runtime.GOOS == "linux" }
