package verify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sallyport/internal/setup"
	"sallyport/internal/testenv"
	"sallyport/settings"
)

var update = flag.Bool("update", false, "rewrite docs/verify.md")

func TestDocs(t *testing.T) {
	const file = "../../docs/verify.md"
	if *update {
		if err := os.WriteFile(file, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Markdown() {
		t.Errorf("%s is not what the checks say; run go test ./internal/verify -update", file)
	}
}

// A row makes one thing different and says what the check must answer then.
type row struct {
	id   string
	name string
	do   func(s *scene)
	want Status
	text string // in the findings
}

func rows() []row {
	set := func(file func(*scene) string, value any, path string) func(*scene) {
		return func(s *scene) { s.edit(file(s), settings.Set(value, strings.Split(path, ".")...)) }
	}
	project, local, user, managed := (*scene).projectFile, (*scene).localFile, (*scene).userFile, (*scene).managedFile
	both := func(fs ...func(*scene)) func(*scene) {
		return func(s *scene) {
			for _, f := range fs {
				f(s)
			}
		}
	}
	asIs := func(*scene) {}
	entry := func(s *scene, event string, group, i int, key string, value any) {
		s.edit(s.userFile(), settings.Set(value, "hooks", event, fmt.Sprint(group), "hooks", fmt.Sprint(i), key))
	}
	return []row{
		{"V01", "as it should be", asIs, Pass, "no invariant broken"},
		{"V01", "no file", func(s *scene) { s.remove(s.projectFile()) }, Fail, "no project settings file"},
		{"V01", "an empty file", func(s *scene) { testenv.Write(s.t, s.projectFile(), "") }, Fail, "empty"},
		{"V01", "not JSON", func(s *scene) { testenv.Write(s.t, s.projectFile(), "{\n  oops") }, Fail, "settings.json:2:3"},
		{"V01", "the client's schema rejects it", set(project, 3, "model"), Fail, "model"},
		{"V01", "sandbox off", set(project, false, "sandbox.enabled"), Fail, "invariant 1"},
		{"V01", "an Edit deny is gone", func(s *scene) { s.drop(s.projectFile(), "permissions.deny", "Edit(.claude/settings.json)") }, Fail, "lacks Edit(.claude/settings.json)"},
		{"V01", "a Read deny is gone", func(s *scene) { s.drop(s.projectFile(), "permissions.deny", "Read(~/.ssh/**)") }, Fail, "invariant 9"},
		{"V01", "no list of hosts", func(s *scene) {
			s.edit(s.projectFile(), settings.Delete("sandbox", "network", "allowedDomains"))
		}, Fail, "allowedDomains is missing"},
		{"V01", "an empty list of hosts", set(project, []string{}, "sandbox.network.allowedDomains"), Warn, "every host asks"},
		{"V01", "home is readable", set(project, []string{"~/"}, "sandbox.filesystem.allowRead"), Fail, "invariant 3"},
		{"V01", "programs are writable", set(project, []string{"~/.local/bin/"}, "sandbox.filesystem.allowWrite"), Fail, "invariant 4"},
		{"V01", "git is excluded", set(project, []string{"git *"}, "sandbox.excludedCommands"), Fail, "invariant 7"},
		{"V01", "a local file has another value", set(local, true, "sandbox.autoAllowBashIfSandboxed"), Warn, "where the project says false"},
		{"V01", "a local file turns the sandbox off", set(local, false, "sandbox.enabled"), Fail, "where the project says true"},
		{"V01", "a managed file has another value", set(managed, true, "sandbox.autoAllowBashIfSandboxed"), Warn, "managed-settings.json"},
		{"V01", "no repository and no .claude", func(s *scene) {
			s.remove(filepath.Join(s.project, ".git"))
			s.remove(filepath.Dir(s.projectFile()))
		}, NotApplicable, ""},

		{"V02", "as it should be", asIs, Pass, "bypass-warn"},
		{"V02", "no bypass-warn", func(s *scene) { entry(s, "PreToolUse", 0, 0, "command", "/opt/other") }, Fail, "does not start bypass-warn"},
		{"V02", "no status line", func(s *scene) { s.edit(s.userFile(), settings.Delete("statusLine")) }, Fail, "no status line"},
		{"V02", "a foreign status line", func(s *scene) { s.edit(s.userFile(), settings.Set("my-line", "statusLine", "command")) }, Warn, "another program"},
		{"V02", "no agent-guard", func(s *scene) { s.edit(s.userFile(), settings.Delete("hooks", "PreToolUse", "0", "hooks", "1")) }, Warn, "does not start agent-guard"},
		{"V02", "no error-hint after failures", func(s *scene) { s.edit(s.userFile(), settings.Delete("hooks", "PostToolUseFailure")) }, Warn, "PostToolUseFailure does not start error-hint"},
		{"V02", "only Bash", func(s *scene) { s.edit(s.userFile(), settings.Set("Bash", "hooks", "PreToolUse", "0", "matcher")) }, Warn, "PowerShell and Monitor"},
		{"V02", "Bash is not covered", func(s *scene) { s.edit(s.userFile(), settings.Set("Monitor", "hooks", "PreToolUse", "0", "matcher")) }, Fail, "bypass-warn for Bash"},
		{"V02", "another toolkit's", func(s *scene) { entry(s, "PreToolUse", 0, 0, "command", "/opt/sandbox-bypass-warn.sh") }, Warn, "another toolkit's"},
		{"V02", "within a larger command", func(s *scene) {
			s.edit(s.userFile(), settings.Delete("hooks", "PreToolUse", "0", "hooks", "0", "args"))
			entry(s, "PreToolUse", 0, 0, "command", "~/.claude/scripts/bypass-warn | tee log")
		}, Warn, "larger command"},
		{"V02", "hooks are off", set(user, true, "disableAllHooks"), Fail, "disableAllHooks"},
		{"V02", "an administrator allows only his own", set(managed, true, "allowManagedHooksOnly"), Fail, "allowManagedHooksOnly"},

		{"V03", "as it should be", asIs, Pass, "bypass-warn v1"},
		{"V03", "one is missing", func(s *scene) { s.remove(s.script("bypass-warn")) }, Fail, "is not there"},
		{"V03", "one is not executable", func(s *scene) { s.chmod(s.script("error-hint"), 0o644) }, Fail, "not an executable"},
		{"V03", "one does not start", func(s *scene) { s.program(s.script("agent-guard"), "echo no >&2; exit 7") }, Fail, "exit 7: no"},
		{"V03", "one is another build", func(s *scene) { s.program(s.script("agent-guard"), "echo agent-guard v2") }, Warn, "not the file that was installed"},
		{"V03", "a broken record", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".local/state/sallyport/installed.json"), "{")
		}, Warn, "record of the installation"},
		{"V03", "the project wires one", func(s *scene) {
			s.program(filepath.Join(s.project, "bypass-warn"), "touch "+filepath.Join(s.root, "started"))
			s.edit(s.projectFile(), settings.Set(json.RawMessage(`{"PreToolUse":[{"hooks":[{"type":"command","command":`+jsonString(filepath.Join(s.project, "bypass-warn"))+`}]}]}`), "hooks"))
		}, Warn, "wired by the project"},
		{"V03", "nothing is wired", both(func(s *scene) { s.remove(s.userFile()) }, func(s *scene) { s.remove(filepath.Join(s.home, ".local")) }), NotApplicable, ""},

		{"V04", "as it should be", asIs, Pass, "a new login shell finds"},
		{"V04", "not in login shells", func(s *scene) { testenv.Write(s.t, filepath.Join(s.home, ".bash_profile"), "") }, Warn, "login shell does not find"},
		{"V04", "an unknown shell", func(s *scene) { s.setenv("SHELL", "/bin/false") }, Warn, "not known"},
		{"V04", "no block", func(s *scene) { testenv.Write(s.t, filepath.Join(s.home, ".bashrc"), "# mine\n") }, Fail, "no start file has the block"},
		{"V04", "half a block", func(s *scene) { s.replace(filepath.Join(s.home, ".bashrc"), "# <<< sallyport <<<", "") }, Fail, "no end after it"},
		{"V04", "the start file ends before it", func(s *scene) {
			s.replace(filepath.Join(s.home, ".bashrc"), "# >>> sallyport", "return\n# >>> sallyport")
		}, Fail, "no new shell finds"},
		{"V04", "installed without a block", func(s *scene) {
			s.replace(filepath.Join(s.home, ".local/state/sallyport/installed.json"), jsonString(filepath.Join(s.home, ".bashrc"))+"\n  ],\n  \"git", "],\n  \"git")
		}, NotApplicable, ""},

		{"V05a", "as it should be", asIs, Pass, "bwrap 0.13.0"},
		{"V05a", "no bwrap", func(s *scene) { s.remove(filepath.Join(s.bin, "bwrap")) }, Fail, "bwrap is not on PATH"},
		{"V05a", "socat says nothing", func(s *scene) { s.program("socat", "exit 1") }, Warn, "does not say its version"},
		{"V05a", "another version", func(s *scene) { s.program("bwrap", "echo 'bubblewrap 0.9.0'") }, Warn, "0.9.0, where"},
		{"V05a", "an override", func(s *scene) {
			s.program("bwrap", "echo 'bubblewrap 0.9.0'")
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/pinned-versions.local.toml"), "[tools.bubblewrap]\nversion = \"0.9.0\"\n")
		}, Warn, "pinned-versions.local.toml wants"},
		{"V05a", "a broken override", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/pinned-versions.local.toml"), "[tools\n")
		}, Warn, "pinned-versions.local.toml:1"},
		{"V05a", "macOS", func(s *scene) { s.goos = "darwin" }, NotApplicable, ""},

		{"V05b", "as it should be", asIs, Pass, "2.1.332"},
		{"V05b", "old", func(s *scene) { s.program("claude", "echo '2.0.0 (Claude Code)'") }, Fail, "older than"},
		{"V05b", "just old enough", func(s *scene) { s.program("claude", "echo '"+embedded()["claude-code"].MinVersion+" (Claude Code)'") }, Pass, "2.1."},
		{"V05b", "says nothing", func(s *scene) { s.program("claude", "exit 1") }, Warn, "does not say"},
		{"V05b", "not there", func(s *scene) { s.remove(filepath.Join(s.bin, "claude")) }, Warn, "not on PATH"},

		{"V06", "as it should be", asIs, Pass, "[sandbox] project"},
		{"V06", "auto", func(s *scene) { s.program(s.script("status-line"), "echo '[sandbox-auto] p'") }, Pass, "[sandbox-auto]"},
		{"V06", "no sandbox", func(s *scene) { s.program(s.script("status-line"), "echo '[NO SANDBOX] p'") }, Fail, "[NO SANDBOX]"},
		{"V06", "not known", func(s *scene) { s.program(s.script("status-line"), "echo '[sandbox?] p'") }, Fail, "[sandbox?]"},
		{"V06", "nothing", func(s *scene) { s.program(s.script("status-line"), "exit 0") }, Fail, "nothing was drawn"},
		{"V06", "no prompts", func(s *scene) { s.program(s.script("status-line"), "echo '[sandbox] [no prompts] p'") }, Warn, "[no prompts]"},
		{"V06", "another status line", func(s *scene) { s.edit(s.userFile(), settings.Set("my-line", "statusLine", "command")) }, NotApplicable, ""},
		{"V06", "the project's", func(s *scene) {
			s.edit(s.projectFile(), settings.Set(json.RawMessage(`{"type":"command","command":"./status-line"}`), "statusLine"))
		}, NotApplicable, "not started"},

		{"V07", "without --live", asIs, NotApplicable, ""},
		{"V07", "outside", func(s *scene) { s.live = true }, Warn, "does not run inside"},
		{"V07", "refused", func(s *scene) { s.inside("403 Forbidden") }, Pass, "the proxy refused"},
		{"V07", "a host comes through", func(s *scene) { s.inside("200 OK") }, Fail, "opened a connection"},
		{"V07", "a gateway error", func(s *scene) { s.inside("502 Bad Gateway") }, Warn, "no refusal"},
		{"V07", "a file comes through", func(s *scene) {
			s.inside("403 Forbidden")
			testenv.Write(s.t, filepath.Join(s.home, ".aws/credentials"), "x")
		}, Fail, "was read"},
		{"V07", "no file to try", func(s *scene) {
			s.inside("403 Forbidden")
			testenv.Write(s.t, filepath.Join(s.home, ".aws/config"), "x")
		}, Warn, "nothing can be said"},
		{"V07", "a variable comes through", func(s *scene) { s.inside("403 Forbidden"); s.setenv("AWS_ACCESS_KEY_ID", "x") }, Fail, "has a value"},

		{"V08", "as it should be", asIs, Pass, "lists "},
		{"V08", "not listed", func(s *scene) { s.drop(s.localFile(), "sandbox.filesystem.allowRead", s.project) }, Fail, "does not list allowRead "},
		{"V08", "a path of tools is not listed", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".gitconfig"), "")
			s.edit(s.localFile(), settings.Delete("permissions", "additionalDirectories"))
		}, Warn, "does not list"},
		{"V08", "a new worktree", func(s *scene) {
			s.git("commit", "-q", "--allow-empty", "-m", "x")
			s.git("worktree", "add", "-q", filepath.Join(s.home, "second"))
		}, Fail, "/home/second"},
		{"V08", "a worktree that is gone", func(s *scene) {
			s.git("commit", "-q", "--allow-empty", "-m", "x")
			s.git("worktree", "add", "-q", filepath.Join(s.home, "second"))
			s.remove(filepath.Join(s.home, "second"))
		}, Warn, "left out"},
		{"V08", "not ignored", func(s *scene) { s.remove(filepath.Join(s.project, ".gitignore")) }, Warn, "not ignored by git"},
		{"V08", "live, outside", func(s *scene) { s.live = true }, Warn, "were not tried"},
		{"V08", "live, inside", func(s *scene) { s.inside("403 Forbidden") }, Pass, "can be written and removed"},
		{"V08", "sandboxed git cannot read the hooks", func(s *scene) {
			s.wholeUser("")
			s.edit(s.userFile(), settings.Delete("sandbox"))
		}, Fail, "silently skips every hook"},
		{"V08", "a shared hook is missing", func(s *scene) {
			s.wholeUser("")
			s.remove(filepath.Join(s.home, ".claude/git-hooks/post-checkout"))
		}, Warn, "is missing"},
		{"V08", "no repository", func(s *scene) { s.remove(filepath.Join(s.project, ".git")) }, NotApplicable, ""},

		{"V08b", "as it should be", asIs, NotApplicable, ""},
		{"V08b", "whole-user", func(s *scene) { s.wholeUser("dispatcher") }, Pass, "flavour dispatcher"},
		{"V08b", "the plain flavour", func(s *scene) { s.wholeUser("simple") }, Warn, "plain flavour"},

		{"V11", "as it should be", asIs, Pass, "gh * runs outside"},
		{"V11", "a rule for all of gh", func(s *scene) { s.edit(s.userFile(), settings.Append("Bash(gh *)", "permissions", "ask")) }, Fail, "invariant 6"},
		{"V11", "not excluded", set(project, []string{}, "sandbox.excludedCommands"), Warn, "no entry gh *"},
		{"V11", "not excluded, macOS", both(set(project, []string{}, "sandbox.excludedCommands"), func(s *scene) { s.goos = "darwin" }), Fail, "no entry gh *"},
		{"V11", "a write does not ask", func(s *scene) { s.drop(s.projectFile(), "permissions.ask", "Bash(gh pr merge *)") }, Warn, "gh pr merge"},
		{"V11", "no gh", func(s *scene) { s.remove(filepath.Join(s.bin, "gh")) }, NotApplicable, ""},

		{"V12c", "as it should be", asIs, NotApplicable, ""},
		{"V12c", "a harmless socket", set(local, []string{"/run/user/1000/gnupg/S.gpg-agent.ssh"}, "sandbox.network.allowUnixSockets"), Pass, "no container daemon's"},
		{"V12c", "the daemon's", set(user, []string{"/var/run/docker.sock"}, "sandbox.network.allowUnixSockets"), Fail, "/var/run/docker.sock"},

		{"V13", "as it should be", asIs, NotApplicable, ""},
		{"V13", "a program that may not be edited", func(s *scene) {
			s.edit(s.projectFile(), settings.Append("~/.claude/scripts/agent-guard *", "sandbox", "excludedCommands"))
		}, Pass, "agent-guard"},
		{"V13", "one that may", func(s *scene) {
			s.program(filepath.Join(s.home, ".claude/tools/run"), "exit 0")
			s.edit(s.projectFile(), settings.Append("~/.claude/tools/run *", "sandbox", "excludedCommands"))
		}, Fail, "no Edit rule"},
		{"V13", "one that is not there", func(s *scene) {
			s.edit(s.projectFile(), settings.Append("~/.claude/scripts/gone *", "sandbox", "excludedCommands"))
		}, Fail, "not there"},
		{"V13", "one that is not executable", func(s *scene) {
			testenv.Write(s.t, s.script("text"), "x")
			s.edit(s.projectFile(), settings.Append("~/.claude/scripts/text", "sandbox", "excludedCommands"))
		}, Fail, "not an executable"},

		{"V15", "as it should be", asIs, NotApplicable, ""},
		{"V15", "nothing listed", both(set(user, true, "permissions.blockReadsOutsideWorkingDirectories"), set(local, []string{}, "permissions.additionalDirectories")), Warn, "is not listed"},
		{"V15", "a pattern", both(set(user, true, "permissions.blockReadsOutsideWorkingDirectories"), set(local, []string{"/tmp/claude-*"}, "permissions.additionalDirectories")), Warn, "never matches"},
		{"V15", "all listed", func(s *scene) {
			s.edit(s.userFile(), settings.Set(true, "permissions", "blockReadsOutsideWorkingDirectories"))
			s.edit(s.localFile(), settings.Set([]string{s.home + "/.config/sallyport", fmt.Sprintf("/tmp/claude-%d", os.Getuid())}, "permissions", "additionalDirectories"))
		}, Pass, "is listed"},
		{"V15", "in a shared file", func(s *scene) {
			s.remove(s.localFile())
			s.edit(s.userFile(), settings.Set(true, "permissions", "blockReadsOutsideWorkingDirectories"),
				settings.Set([]string{s.home + "/.config/sallyport", fmt.Sprintf("/tmp/claude-%d", os.Getuid())}, "permissions", "additionalDirectories"))
		}, Warn, "others share"},

		{"V16", "as it should be", asIs, NotApplicable, ""},
		{"V16", "no conflict", set(managed, true, "sandbox.enabled"), Pass, "no conflict"},
		{"V16", "another value", set(managed, true, "sandbox.autoAllowBashIfSandboxed"), Warn, "does not count"},
		{"V16", "a lock", set(managed, true, "sandbox.network.allowManagedDomainsOnly"), Warn, "allowManagedDomainsOnly"},
		{"V16", "sandbox off", set(managed, false, "sandbox.enabled"), Fail, "turned off"},

		{"V17", "as it should be", asIs, Pass, "files and directories"},
		{"V17", "everybody may write", func(s *scene) { s.chmod(s.userFile(), 0o646) }, Fail, "every account may write"},
		{"V17", "a writable directory of programs", func(s *scene) { s.chmod(filepath.Dir(s.script("x")), 0o777) }, Fail, "every account may write"},
		{"V17", "a group may write", func(s *scene) { s.chmod(s.script("bypass-warn"), 0o775) }, Warn, "a group may write"},
		{"V17", "Windows", func(s *scene) { s.goos = "windows" }, NotApplicable, ""},

		{"V18", "as it should be", asIs, Pass, "no hooks"},
		{"V18", "the repository brings one", func(s *scene) {
			s.edit(s.projectFile(), settings.Set(json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"./notify.sh"}]}]}`), "hooks"))
		}, Warn, "Stop runs ./notify.sh"},
		{"V18", "no file", func(s *scene) { s.remove(s.projectFile()) }, NotApplicable, ""},

		{"V19", "as it should be", asIs, Pass, "all known"},
		{"V19", "misspelt", set(project, true, "sandbox.failIfUnavailible"), Fail, "did you mean sandbox.failIfUnavailable"},
		{"V19", "at the wrong level", set(user, true, "sandbox.network.enableWeakerNetworkIsolation"), Fail, "the client reads sandbox.enableWeakerNetworkIsolation"},
		{"V19", "not known", set(local, true, "sandbox.somethingQuiteNew"), Warn, "is not known"},
		{"V19", "free names", set(project, map[string][]string{"npm test": {"/x"}}, "sandbox.ignoreViolations"), Pass, "all known"},
		{"V19", "no keys", func(s *scene) { s.remove(s.projectFile()); s.remove(s.localFile()) }, NotApplicable, ""},

		{"V20", "as it should be", asIs, NotApplicable, ""},
		{"V20", "a server", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".claude.json"), `{"mcpServers":{"git":{"command":"git"},"far":{"url":"https://u:p@mcp.example/x?token=abc"}}}`)
		}, Pass, "https://mcp.example/x"},
		{"V20", "its program is not there", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".claude.json"), `{"mcpServers":{"a":{"command":"gone"}}}`)
		}, Warn, "not there"},
		{"V20", "everybody may write its program", func(s *scene) {
			s.program("server", "exit 0")
			s.chmod(filepath.Join(s.bin, "server"), 0o777)
			testenv.Write(s.t, filepath.Join(s.home, ".claude.json"), `{"mcpServers":{"a":{"command":"server"}}}`)
		}, Fail, "every account may change"},
		{"V20", "not JSON", func(s *scene) { testenv.Write(s.t, filepath.Join(s.home, ".claude.json"), `{`) }, Warn, "column"},

		{"V21", "as it should be", asIs, Pass, "valid"},
		{"V21", "not JSON", func(s *scene) { testenv.Write(s.t, s.localFile(), "{\"a\":1,}") }, Fail, "settings.local.json:1:7"},
		{"V21", "a file that is not read", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".claude/settings.local.json"), `{"sandbox":{"enabled":true}}`)
		}, Warn, "sandbox.enabled do nothing"},
		{"V21", "a key that does not count there", set(project, true, "sandbox.network.strictAllowlist"), Warn, "does nothing here"},

		{"V22", "as it should be", asIs, NotApplicable, ""},
		{"V22", "valid", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/bypass-warn.toml"), "mode = \"warn\"\n")
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/guard.toml"), "[guards]\nmention = \"ask\"\n")
		}, Pass, "valid"},
		{"V22", "bypass-warn.toml", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/bypass-warn.toml"), "mode = \"warn\"\nchannel = [\n")
		}, Fail, "bypass-warn.toml:2"},
		{"V22", "status-line.toml", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/status-line.toml"), "theme = [\n")
		}, Fail, "status-line.toml"},
		{"V22", "an unknown key", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/status-line.toml"), "colour = \"blue\"\n")
		}, Warn, "status-line.toml:1"},
		{"V22", "guard.toml", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/guard.toml"), "[guards\n")
		}, Fail, "guard.toml"},
		{"V22", "iso.toml", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/iso.toml"), "pass = [\"*\"]\n")
		}, Fail, "iso.toml"},
		{"V22", "hints.d", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.home, ".config/sallyport/hints.d/mine.toml"), "[[hint]\n")
		}, Fail, "mine.toml"},
		{"V22", "the repository's guard.toml", func(s *scene) {
			testenv.Write(s.t, filepath.Join(s.project, ".sallyport/guard.toml"), "x = [\n")
		}, Fail, ".sallyport/guard.toml"},
	}
}

// inside makes the account look as from within the sandbox, whose proxy gives
// an answer to every CONNECT.
func (s *scene) inside(answer string) {
	s.live = true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			if strings.HasPrefix(line, "CONNECT "+canaryHost+":443 ") {
				fmt.Fprintf(c, "HTTP/1.1 %s\r\n\r\n", answer)
			}
			c.Close()
		}
	}()
	s.setenv("HTTPS_PROXY", "http://srt:secret@"+l.Addr().String())
	s.setenv("TMPDIR", "/tmp/claude-0")
}

func TestChecks(t *testing.T) {
	for _, tt := range rows() {
		t.Run(tt.id+" "+tt.name, func(t *testing.T) {
			s := newScene(t)
			tt.do(s)
			res := s.check(tt.id)
			if res.Status != tt.want {
				t.Errorf("%s is %v, want %v\n%s", tt.id, res.Status, tt.want, describe(res))
			}
			if text := describe(res); !strings.Contains(text, tt.text) {
				t.Errorf("%s: want a finding with %q, got\n%s", tt.id, tt.text, text)
			}
			for _, f := range res.Findings {
				if f.Text == "" || f.Status >= Warn && f.Fix == "" && f.File == "" && f.Command == "" {
					t.Errorf("%s: a finding without text, or without anything to go by: %+v", tt.id, f)
				}
			}
			if exists(filepath.Join(s.root, "started")) {
				t.Errorf("a program that the project put there was started")
			}
		})
	}
}

// TestRowsComplete: every mark that a check documents has a row, and no other.
func TestRowsComplete(t *testing.T) {
	for _, c := range Checks() {
		for status, text := range map[Status]string{Pass: c.Pass, Fail: c.Fail, Warn: c.Warn, NotApplicable: c.NA} {
			has := slices.ContainsFunc(rows(), func(r row) bool { return r.id == c.ID && r.want == status })
			if has != (text != "") {
				t.Errorf("%s: %v documented: %t, tested: %t", c.ID, status, text != "", has)
			}
		}
	}
}

// TestOneDefect: what is wrong once is reported by one check.
func TestOneDefect(t *testing.T) {
	s := newScene(t)
	if r := Run(s.machine()); r.Count(Fail) != 0 || len(r.Results) != len(Checks()) {
		t.Fatalf("%d ✗ on a fresh installation\n%s", r.Count(Fail), text(r))
	}
	s.drop(s.projectFile(), "permissions.deny", "Edit(.claude/settings.local.json)")
	if r := Run(s.machine()); r.Count(Fail) != 1 {
		t.Errorf("%d ✗ after one Edit deny was deleted, want 1\n%s", r.Count(Fail), text(r))
	}
}

// TestReadOnly: a look changes no file and makes none.
func TestReadOnly(t *testing.T) {
	s := newScene(t)
	list := func() string {
		var b strings.Builder
		err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := list()
	m := s.machine()
	Run(m)
	if _, err := Explain(m, "sandbox"); err != nil {
		t.Fatal(err)
	}
	if after := list(); after != before {
		t.Errorf("files before:\n%s\nafter:\n%s", before, after)
	}
}

// TestInsideSandbox: what the sandbox hides is not called missing.
func TestInsideSandbox(t *testing.T) {
	s := newScene(t)
	s.inside("403 Forbidden")
	s.remove(s.userFile())
	s.remove(filepath.Join(s.home, ".claude/scripts"))
	s.program("claude", "echo '2.0.0 (Claude Code)'")
	r := Run(s.machine())
	if r.Stopped != "" || r.Count(Fail) != 0 || !strings.Contains(text(r), "in a terminal of your own") {
		t.Errorf("stopped at %q, %d ✗\n%s", r.Stopped, r.Count(Fail), text(r))
	}
	s.drop(s.projectFile(), "permissions.deny", "Read(~/.ssh/**)")
	if res := s.check("V01"); res.Status != Fail {
		t.Errorf("V01 is %v inside the sandbox, want fail: the project can be read there", res.Status)
	}
}

func text(r *Report) string {
	var b bytes.Buffer
	r.WriteText(&b, false, true, func(s string) string { return s })
	return b.String()
}

func TestStop(t *testing.T) {
	s := newScene(t)
	s.program("claude", "echo '2.0.0 (Claude Code)'")
	r := Run(s.machine())
	if r.Stopped != "V05b" || r.Results[len(r.Results)-1].ID != "V05b" {
		t.Errorf("stopped at %q, last check %s, want V05b", r.Stopped, r.Results[len(r.Results)-1].ID)
	}
}

// TestKnownKeys: what the client's schema has, as far as package settings
// knows it, is known here.
func TestKnownKeys(t *testing.T) {
	source, err := os.ReadFile("../../settings/schema_table.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile(`"sandbox\.([A-Za-z0-9.]+)"`).FindAllStringSubmatch(string(source), -1) {
		key := m[1]
		found++
		if !slices.ContainsFunc(sandboxKeys(), func(k string) bool { return k == key || strings.HasPrefix(k, key+".") }) {
			t.Errorf("sandbox.%s is not listed", key)
		}
	}
	if found < 20 {
		t.Errorf("only %d keys found in the schema", found)
	}
	for _, k := range sandboxKeys() {
		if near := setup.Nearest(k, sandboxKeys()); near != k {
			t.Errorf("sandbox.%s is nearer to %s than to itself", k, near)
		}
	}
}

// TestHostile: what a file holds cannot drive a terminal.
func TestHostile(t *testing.T) {
	s := newScene(t)
	evil := "\x1b]0;owned\x07\u202e\r\n\x1b[2J"
	s.edit(s.projectFile(), settings.Set(json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":`+jsonString(evil)+`}]}]}`), "hooks"),
		settings.Set(true, "sandbox", evil), settings.Append(evil, "permissions", "allow"))
	m := s.machine()
	var b bytes.Buffer
	Run(m).WriteText(&b, false, false, m.Short)
	for _, key := range []string{"hooks", "permissions.allow", "sandbox"} {
		e, err := Explain(m, key)
		if err != nil {
			t.Fatal(err)
		}
		e.WriteText(&b, false, m.Short)
	}
	if i := strings.IndexAny(b.String(), "\x1b\x07\u202e\r"); i >= 0 {
		t.Errorf("a control character was printed: %q", b.String()[max(0, i-60):i+10])
	}
}

func TestExplain(t *testing.T) {
	s := newScene(t)
	s.edit(s.userFile(), settings.Set(false, "sandbox", "enabled"), settings.Set([]string{"."}, "sandbox", "filesystem", "allowRead"))
	s.edit(s.projectFile(), settings.Append("Read(/docs/**)", "permissions", "deny"), settings.Set("s3cr3t-value", "env", "API_TOKEN"))
	testenv.Write(t, filepath.Join(s.home, ".claude/settings.local.json"), `{"sandbox":{"enabled":false}}`)
	m := s.machine()
	for _, tt := range []struct {
		key  string
		want []string
		not  string
	}{
		{"sandbox.enabled", []string{"sandbox.enabled = true", "from ~/project/.claude/settings.json:3:5", "~/.claude/settings.json:", ": false", "another file decides", "~/.claude/settings.local.json:1: false", "not read by"}, ""},
		{"/sandbox/enabled", []string{"sandbox.enabled = true"}, ""},
		{"sandbox.filesystem.allowRead", []string{"\".\"\n      = ~/project\n      project", "\".\"\n      = ~/.claude\n      user"}, ""},
		{"permissions.deny", []string{"Read(/docs/**)", "= ~/project/docs and all below it", "= ~/.aws and all below it"}, ""},
		{"sandbox.failIfUnavailable", []string{"the client's default is false"}, ""},
		{"sandbox.failIfUnavailible", []string{"nothing that counts sets it", "the nearest is sandbox.failIfUnavailable"}, ""},
		{"sandbox.credentials.envVars", []string{"GH_TOKEN", "project"}, ""},
		{"env.API_TOKEN", []string{"***"}, "s3cr3t"},
		{"env", []string{"***"}, "s3cr3t"},
	} {
		e, err := Explain(m, tt.key)
		if err != nil {
			t.Errorf("Explain(%s): %v", tt.key, err)
			continue
		}
		var b bytes.Buffer
		e.WriteText(&b, false, m.Short)
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("explain %s: got\n%s\nwant it to hold %q", tt.key, b.String(), want)
			}
		}
		if tt.not != "" && strings.Contains(b.String(), tt.not) {
			t.Errorf("explain %s shows a secret:\n%s", tt.key, b.String())
		}
	}
	for _, key := range []string{"", "a..b", "."} {
		if _, err := Explain(m, key); err == nil {
			t.Errorf("Explain(%q) gave no error", key)
		}
	}
}
