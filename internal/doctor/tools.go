package doctor

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"sallyport/internal/hints"
)

var ghSandbox = Probe{
	Name:     "gh-sandbox",
	Title:    "gh works, or is excluded",
	Does:     "runs `gh api user` through sh, so that no exclusion applies, and looks only at how it fails. Not offline. Reads sandbox.excludedCommands and permissions.ask.",
	Sandbox:  "inside, the text is that of a hidden keyring or certificate service; fine if `gh *` is excluded",
	Other:    "not logged in; no network; a rate limit",
	Failures: []string{"gh-in-sandbox", "tls-osstatus"},
	Run: func(ctx context.Context, w *World) []Result {
		gh, ok := w.lookPath("gh")
		if !ok {
			return []Result{none("gh is not on PATH")}
		}
		excluded := false
		for _, e := range w.Settings.List("sandbox.excludedCommands") {
			excluded = excluded || e.Value == "gh *" || e.Value == "gh:*"
		}
		var r Result
		sh, ok := w.lookPath("sh")
		switch {
		case w.Offline:
			r = none("offline")
		case !ok:
			r = none("sh is not on PATH")
		default:
			r = judgeGH(w.Inside, excluded, w.run(ctx, 12*time.Second, "", sh, "-c", `exec "$0" api user`, gh))
			if r.Status == Fail && r.Catalog == "gh-in-sandbox" {
				r.Fix = projectFix(w, `{"sandbox":{"excludedCommands":["gh *"]}}`)
			}
		}
		results := []Result{r}
		for _, e := range w.Settings.List("permissions.ask") {
			if e.Value == "Bash(gh *)" || e.Value == "Bash(gh:*)" || e.Value == "Bash(gh*)" {
				results = append(results, warn("%s in %s asks for every read as well", e.Value, e.Source).
					advise("list the writing sub-commands one by one").of("ask rule"))
			}
		}
		return results
	},
}

func judgeGH(inside, excluded bool, o outcome) Result {
	if o.ok() {
		return pass("gh api user works").ran(o)
	}
	text := hints.Text(o.stdout, o.stderr)
	for _, m := range hints.Scan(text, hints.Builtin()) {
		switch {
		case m.Entry.Probe != "gh-sandbox":
		case !inside:
			return warn("gh: %s", firstLine(text)).ran(o).advise("run gh auth login; this is not the sandbox")
		case excluded:
			return pass("gh fails in the sandbox and is excluded: call it alone, without pipe, redirection or cd").ran(o)
		default:
			return fail(m.Entry.ID, Sandbox, "gh: %s", text[m.Start:m.End]).ran(o)
		}
	}
	if inside && excluded {
		return pass("gh fails in the sandbox and is excluded: call it alone, without pipe, redirection or cd").ran(o)
	}
	return warn("gh: %s", o.say()).ran(o).advise("not logged in, offline, or a rate limit")
}

var devTools = Probe{
	Name:     "dev-tools",
	Title:    "developers' tools in the home directory can be used",
	Does:     "looks for prek, uv and uvx and runs each with --version; makes and removes a file in ~/.cache; asks git for the global user.name.",
	Sandbox:  "a tool is there outside and not inside, and ~/.local/bin is not granted; ~/.cache is refused",
	Other:    "not installed",
	Failures: []string{"devtool-not-found", "pkg-cache-denied"},
	Run: func(ctx context.Context, w *World) []Result {
		bin := filepath.Join(w.Home, ".local", "bin")
		facts := map[string]string{}
		var results []Result
		for _, name := range []string{"prek", "uv", "uvx"} {
			t := tool{name: name, granted: granted(w, "sandbox.filesystem.allowRead", bin), hidden: hidden(w, bin) || hidden(w, filepath.Join(bin, name))}
			if path, ok := w.lookPath(name); ok {
				t.path = path
				t.ran = w.run(ctx, 4*time.Second, "", path, "--version")
			}
			r := judgeTool(w, t)
			if r.Status == Fail {
				r.Fix = grant(w, []string{bin, filepath.Join(w.Home, ".local", "share", "uv")}, nil)
			}
			facts[name] = map[bool]string{true: "found", false: "not found"}[t.path != ""]
			results = append(results, r.of(name))
		}
		cache := filepath.Join(w.Home, ".cache")
		if info, err := os.Stat(cache); err == nil && info.IsDir() {
			r := pass("~/.cache can be written")
			if err := tryWrite(cache); err != nil {
				r = w.refused(err, "pkg-cache-denied", "write in ~/.cache: %s", reason(err))
				if r.Status == Fail {
					r.Fix = grant(w, []string{cache}, []string{cache})
				}
			}
			results = append(results, r.of("cache"))
		}
		name, _ := w.gitConfig(ctx, "--global", "--get", "user.name")
		facts["git user.name"] = map[bool]string{true: "set", false: "not set"}[name != ""]
		results = append(results, judgeIdentity(w.Inside, name).of("git"))
		results[0].Facts = facts
		return results
	},
}

type tool struct {
	name, path      string
	granted, hidden bool // ~/.local/bin, by the settings
	ran             outcome
}

func judgeTool(w *World, t tool) Result {
	switch {
	case t.path == "" && w.Inside && t.hidden && !t.granted:
		return fail("devtool-not-found", Unclear, "%s is not found, and the settings hide ~/.local/bin", t.name).
			advise("it may also not be installed; compare with a snapshot from outside to be sure")
	case t.path == "":
		return none("%s is not installed", t.name)
	case t.ran.ok():
		return pass("%s", firstLine(t.ran.stdout)).ran(t.ran)
	}
	return warn("%s --version: %s", w.short(t.path), t.ran.say()).ran(t.ran)
}

func judgeIdentity(inside bool, name string) Result {
	switch {
	case name != "":
		return pass("git knows who you are")
	case inside:
		return warn("git knows no user.name here: commits fail").advise("if it is set outside, open ~/.gitconfig and ~/.config/git in sandbox.filesystem.allowRead")
	}
	return warn("git knows no user.name: commits fail").advise("git config --global user.name NAME")
}
