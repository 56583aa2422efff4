package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/regularfile"
	"sallyport/internal/setup"
	"sallyport/settings"
)

var sandboxActive = Probe{
	Name:     "sandbox-active",
	Title:    "a session that should be sandboxed is",
	Does:     "compares what the settings say with where this process runs, and tries to read what sandbox.filesystem.denyRead denies: credential files in the home directory. One byte is read and nothing of it is kept.",
	Sandbox:  "the settings say on, an agent's session started the command, and it runs outside, or a denied path can be read inside",
	Other:    "the command was excluded, or a bypass was approved for it",
	Failures: []string{"sandbox-silently-off"},
	Run: func(ctx context.Context, w *World) []Result {
		box := w.Settings.Sandbox()
		on := box.State == settings.SandboxOn || box.State == settings.SandboxOnAuto || box.State == settings.SandboxCannotStart
		return []Result{judgeActive(active{on: on, why: box.Why, inside: w.Inside, agent: w.Agent, leak: leak(w)})}
	},
}

type active struct {
	on     bool
	why    string
	inside bool
	agent  bool
	leak   string // a denied path that could be read
}

func judgeActive(a active) Result {
	switch {
	case a.inside && a.leak != "":
		return fail("sandbox-silently-off", Sandbox, "%s is denied by the settings and can be read", a.leak)
	case a.inside:
		return pass("this runs inside the sandbox")
	case !a.agent:
		return none("no agent's session started this")
	case a.on:
		return fail("sandbox-silently-off", Unclear, "%s Yet this runs outside the sandbox", a.why).
			advise("expected if you approved a bypass for this command, or excluded it; otherwise the sandbox did not start")
	}
	return warn("%s", a.why).advise("turn the sandbox on in the settings")
}

// leak is a credential path that the settings hide and that can be read.
func leak(w *World) string {
	for _, name := range []string{".ssh", ".aws/credentials", ".netrc", ".config/gcloud", ".kube/config", ".docker/config.json", ".azure"} {
		path := filepath.Join(w.Home, name)
		if !hidden(w, path) {
			continue
		}
		if look := looks(path); look == "a file" || look == "a directory" {
			return w.short(path)
		}
	}
	return ""
}

// hidden reports that the settings deny reading path and nothing opens it again.
func hidden(w *World, path string) bool {
	covers := func(key string) bool {
		for _, e := range w.Settings.List(key) {
			if dir, ok := w.Settings.SandboxPath(e.Value, e.Source); ok && within(path, dir) {
				return true
			}
		}
		return false
	}
	if !covers("sandbox.filesystem.denyRead") {
		return false
	}
	// Below an allowed path, or above one that has to be reachable.
	for _, e := range w.Settings.List("sandbox.filesystem.allowRead") {
		dir, ok := w.Settings.SandboxPath(e.Value, e.Source)
		if !ok || within(path, dir) || within(dir, path) || strings.ContainsAny(dir, "*?[") {
			return false
		}
	}
	return true
}

// granted reports that a list of the settings names path or a directory above it.
func granted(w *World, key, path string) bool {
	return slices.ContainsFunc(w.Settings.List(key), func(e settings.Value[string]) bool {
		dir, ok := w.Settings.SandboxPath(e.Value, e.Source)
		return ok && within(path, dir)
	})
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(filepath.Clean(dir), filepath.Clean(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

var pipes = Probe{
	Name:      "pipes",
	Title:     "what goes into a pipe comes out",
	Does:      "runs `echo x | cat` with sh.",
	Sandbox:   "nothing comes out",
	Other:     "no sh on PATH",
	Failures:  []string{"pipes-empty"},
	Platforms: []string{"linux", "darwin"},
	Run: func(ctx context.Context, w *World) []Result {
		sh, ok := w.lookPath("sh")
		if !ok {
			return []Result{none("sh is not on PATH")}
		}
		return []Result{judgePipes(w.Inside, w.run(ctx, 5*time.Second, "", sh, "-c", "echo x | cat"))}
	},
}

func judgePipes(inside bool, o outcome) Result {
	switch {
	case o.ok() && strings.TrimSpace(o.stdout) == "x":
		return pass("echo x | cat prints x")
	case o.ok() && inside:
		return fail("pipes-empty", Sandbox, "echo x | cat prints %q", o.stdout).ran(o)
	}
	return warn("echo x | cat: %s", o.say()).ran(o)
}

var workingDirs = Probe{
	Name:    "working-dirs",
	Title:   "the client's own tools may read what they need",
	Does:    "reads the settings: with permissions.blockReadsOutsideWorkingDirectories on, permissions.additionalDirectories has to list the programs' directory and the session's temporary directory, literally.",
	Sandbox: "never: these are the client's own tools",
	Other:   "a path is not listed, or is written with a glob, which matches nothing",
	Run: func(ctx context.Context, w *World) []Result {
		for _, f := range w.Settings.Files() {
			if f.Scope == settings.User && f.Status == settings.Unreadable {
				return []Result{none("%s cannot be read from here", w.short(f.Path))}
			}
		}
		var source string
		for _, v := range w.Settings.All("permissions.blockReadsOutsideWorkingDirectories") {
			if on, _ := v.Value.Bool(); on {
				source = v.Source.String()
			}
		}
		if source == "" {
			return []Result{none("permissions.blockReadsOutsideWorkingDirectories is off")}
		}
		need := []string{filepath.Join(w.ConfigDir, "scripts"), fmt.Sprintf("/tmp/claude-%d", os.Getuid())}
		var listed []string
		for _, e := range w.Settings.List("permissions.additionalDirectories") {
			listed = append(listed, filepath.Clean(w.expand(e.Value)))
		}
		return []Result{judgeWorkingDirs(source, need, listed)}
	},
}

func judgeWorkingDirs(source string, need, listed []string) Result {
	var missing []string
	glob := ""
	for _, dir := range need {
		if !slices.ContainsFunc(listed, func(l string) bool { return within(dir, l) }) {
			missing = append(missing, dir)
		}
	}
	for _, l := range listed {
		if strings.ContainsAny(l, "*?[") {
			glob = l
		}
	}
	switch {
	case len(missing) == 0 && glob == "":
		return pass("permissions.additionalDirectories lists %s", strings.Join(need, " and "))
	case len(missing) == 0:
		return warn("%s in permissions.additionalDirectories matches nothing: entries are literal paths", glob)
	case glob != "":
		return warn("%s is set (%s) and %s not listed; %s matches nothing: entries are literal paths", "blockReadsOutsideWorkingDirectories", source, strings.Join(missing, ", "), glob)
	}
	return warn("blockReadsOutsideWorkingDirectories is set (%s) and permissions.additionalDirectories does not list %s: each read there asks", source, strings.Join(missing, ", "))
}

var tmpdirSetting = Probe{
	Name:     "tmpdir-setting",
	Title:    "no setting that does nothing moves the temporary directory",
	Does:     "looks for env.TMPDIR in the settings files.",
	Sandbox:  "a file sets it: the client accepts it and sets TMPDIR itself",
	Other:    "none",
	Failures: []string{"settings-env-tmpdir"},
	Run: func(ctx context.Context, w *World) []Result {
		var at []string
		for _, v := range w.Settings.All("env.TMPDIR") {
			if v.Value.Kind() == settings.String {
				at = append(at, v.Source.String())
			}
		}
		if read := countRead(w); len(at) == 0 && read == 0 {
			return []Result{none("there is no settings file")}
		}
		return []Result{judgeTmpdir(at)}
	},
}

func countRead(w *World) (n int) {
	for _, f := range w.Settings.Files() {
		if f.Status == settings.Read {
			n++
		}
	}
	return n
}

func judgeTmpdir(at []string) Result {
	if len(at) == 0 {
		return pass("no settings file sets env.TMPDIR")
	}
	r := warn("env.TMPDIR is set in %s and has no effect", strings.Join(at, ", "))
	r.Catalog, r.Cause = "settings-env-tmpdir", Sandbox
	return r
}

var excludedCommands = Probe{
	Name:     "excluded-commands",
	Title:    "an excluded command does not take others out of the sandbox",
	Does:     "asks the client for its version (claude --version) and reads sandbox.excludedCommands.",
	Sandbox:  "a client before 2.1.315 with excluded commands: one matching part took the whole line out of the sandbox until about 2.1.300, and by 2.1.315 every part has to match",
	Other:    "the client's version is not known",
	Failures: []string{"excluded-leak"},
	Run: func(ctx context.Context, w *World) []Result {
		var list []string
		for _, e := range w.Settings.List("sandbox.excludedCommands") {
			list = append(list, e.Value)
		}
		version := ""
		if len(list) > 0 {
			if version = w.Settings.Session().Version; version == "" {
				if claude, ok := w.lookPath("claude"); ok {
					first := strings.Fields(w.run(ctx, 5*time.Second, "", claude, "--version").stdout + " ")
					if len(first) > 0 {
						version = first[0]
					}
				}
			}
		}
		return []Result{judgeExcluded(list, version)}
	},
}

func judgeExcluded(list []string, version string) Result {
	if len(list) == 0 {
		return none("sandbox.excludedCommands is empty")
	}
	quoted := strings.Join(list, ", ")
	older, known := olderThan(version, [3]int{2, 1, 315})
	switch {
	case !known:
		return warn("excluded: %s; the client's version is not known, and before 2.1.315 one excluded part could take the whole line out of the sandbox", quoted)
	case older:
		return fail("excluded-leak", Sandbox, "client %s, excluded: %s", version, quoted)
	}
	return pass("client %s takes a line out only if every part is excluded (%s)", version, quoted)
}

// olderThan compares a dotted version of the client.
func olderThan(version string, than [3]int) (older, known bool) {
	var have [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); n != 3 {
		return false, false
	}
	return slices.Compare(have[:], than[:]) < 0, true
}

var homeView = Probe{
	Name:     "home-view",
	Title:    "what of the home directory can be seen",
	Does:     "looks at well-known places in the home directory, and for a first byte in files. It judges nothing alone: a comparison with a snapshot shows what the sandbox hides, because on Linux a denied path looks like a missing one.",
	Sandbox:  "a place is there outside and is not inside",
	Other:    "none",
	Failures: []string{"linux-enoent-denial"},
	Run: func(ctx context.Context, w *World) []Result {
		facts := map[string]string{}
		seen := 0
		for _, name := range []string{".gitconfig", ".config/git", ".config/gh", ".ssh", ".gnupg", ".aws", ".netrc", ".kube", ".docker",
			".cache", ".local/bin", ".local/share/uv", ".npm", ".cargo", "go", ".claude/settings.json", ".claude/scripts", ".bashrc", ".zshrc"} {
			look := looks(filepath.Join(w.Home, name))
			facts["~/"+name] = look
			if look != "missing" && look != "denied" {
				seen++
			}
		}
		if seen == 0 && looks(w.Home) != "a directory" {
			return []Result{none("the home directory cannot be seen").with(facts)}
		}
		return []Result{pass("%d of %d well-known places can be seen", seen, len(facts)).with(facts)}
	},
}

var hooksLive = Probe{
	Name:    "hooks-live",
	Title:   "the suite's hooks and status line answer",
	Does:    "starts each program of the suite that the user settings wire, the way the client does and with its timeout, on a harmless event (`echo`). Hooks of others, and hooks of a project, are not started.",
	Sandbox: "never: the client runs hooks outside the sandbox. Inside, the programs may be hidden, and then this is not probed",
	Other:   "the program is gone, cannot be run, is too slow, or prints what the client would not take",
	Run: func(ctx context.Context, w *World) []Result {
		file := filepath.Join(w.ConfigDir, "settings.json")
		doc, err := regularfile.Read(file, 16<<20)
		var large *regularfile.TooLargeError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return []Result{none("%s does not exist", w.short(file))}
		case errors.Is(err, regularfile.ErrNotRegular), errors.As(err, &large):
			return []Result{warn("%s is not a settings file: %v", w.short(file), err)}
		case err != nil:
			return []Result{none("%s: %s", w.short(file), reason(err))}
		}
		hooks, err := setup.WiredHooks(w.short(file), doc, w.Getenv)
		if err != nil {
			return []Result{warn("%v", err).advise("repair the file; the client drops it whole")}
		}
		var results []Result
		others := 0
		for _, h := range hooks {
			if h.Component == "" {
				others++
				continue
			}
			subject := h.Event + " " + h.Component
			if _, err := os.Stat(h.Program); w.Inside && errors.Is(err, fs.ErrNotExist) {
				results = append(results, none("%s cannot be seen from inside the sandbox, where hooks do not run", w.short(h.Program)).of(subject))
				continue
			}
			results = append(results, tryHook(ctx, w, h).of(subject))
		}
		if len(results) == 0 {
			return []Result{none("the user settings wire nothing of the suite").advise("agent-setup install wires it")}
		}
		if others > 0 {
			results = append(results, none("%d entries of others are not started", others).of("others"))
		}
		return results
	},
}

func tryHook(ctx context.Context, w *World, h setup.WiredHook) Result {
	event := map[string]any{
		"hook_event_name": h.Event, "session_id": "doctor", "cwd": w.Start, "transcript_path": "",
		"tool_name": "Bash", "tool_input": map[string]any{"command": "echo doctor", "description": "probe"},
		"command": "echo doctor",
	}
	args := h.Args
	switch h.Event {
	case "statusLine":
		event = map[string]any{"cwd": w.Start, "workspace": map[string]any{"current_dir": w.Start, "project_dir": w.Start}, "model": map[string]any{"display_name": "Claude"}}
	case "PostToolUse":
		event["tool_response"] = map[string]any{"stdout": "doctor", "stderr": ""}
	case "PostToolUseFailure":
		event["error"] = "Exit code 1"
	case "SessionStart":
		// Seen, not said: a probe must not use up the reminder.
		args = []string{"--version"}
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return warn("%v", err)
	}
	// Without a cache no hint is used up, and the status line has nothing to
	// renew in the background, which would ask the network.
	quiet := *w
	quiet.Environ = append(slices.Clone(w.Environ), "XDG_CACHE_HOME="+filepath.Join(os.DevNull, "none"))
	o := quiet.run(ctx, min(h.Timeout, limit-time.Second), string(payload), h.Program, args...)
	return judgeHook(w.short(h.Program), h.Event, o)
}

func judgeHook(program, event string, o outcome) Result {
	r := pass("%s: exit 0", program)
	out := strings.TrimSpace(o.stdout)
	switch {
	case o.timeout:
		r = warn("%s does not answer within its timeout", program)
	case o.err != nil:
		r = warn("%s does not start: %s", program, reason(o.err)).advise("agent-setup install puts it in place again")
	case !o.ok():
		r = warn("%s ends with exit %d on a harmless event", program, *o.exit)
	case event == "statusLine" && out == "":
		r = warn("%s draws nothing", program)
	case event != "statusLine" && event != "SessionStart" && out != "" && !json.Valid([]byte(out)):
		r = warn("%s prints what the client cannot read", program)
	}
	return r.ran(o)
}
