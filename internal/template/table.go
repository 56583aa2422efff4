package template

import "strings"

// Table lists every row, in the order in which a new file holds them.
func Table() []Row {
	value := func(g Group, key, value, why string) Row {
		return Row{Key: key, Values: []string{value}, Group: g, Why: why}
	}
	list := func(g Group, key, why string, entries ...string) Row {
		return Row{Key: key, List: true, Values: quoted(entries...), Group: g, Why: why}
	}
	strict := func(r Row) Row { r.Strict = true; return r }
	required := func(r Row) Row { r.Required = true; return r }
	asked := func(g Group, key, command, why string) Row {
		return Row{Key: key, List: true, Group: g, Asked: command, Why: why}
	}
	local := func(r Row) Row { r.Local = true; return r }
	return []Row{
		value(Base, "sandbox.enabled", "true", "Every Bash process runs in bubblewrap (Linux) or Seatbelt (macOS). The agent's own file tools are not covered by it; the permission rules below are for those."),
		strict(value(Base, "sandbox.failIfUnavailable", "true", "Without it a missing bwrap, socat or rg silently means no sandbox at all.")),
		value(Base, "sandbox.autoAllowBashIfSandboxed", "false", "Its default differs between client versions, so leaving it out means not knowing. You are asked; the status line shows true in yellow."),
		strict(value(Base, "sandbox.allowUnsandboxedCommands", "false", "The client then ignores requests to leave the sandbox.")),
		list(GitHub, "sandbox.excludedCommands", "gh needs the system's keyring and certificate store, which the sandbox hides. Only a bare `gh …` call leaves it: a compound command with another part, a cd, a command substitution or a redirection stays inside. This is a convenience and no boundary; writes still ask, and printing the token is denied.", "gh *"),
		list(Base, "sandbox.filesystem.denyRead", "The home directory is closed, and only what is listed below is opened again.", "~/"),
		list(Base, "sandbox.filesystem.allowRead", "The project itself. In the user's file the same entry would mean ~/.claude.", "."),
		list(Base, "sandbox.filesystem.allowRead", "Your name and address for commits, and settings per host.", "~/.gitconfig", "~/.config/git/"),
		list(Base, "sandbox.filesystem.allowRead", "Most tools keep their caches there.", "~/.cache/"),
		list(GitHub, "sandbox.filesystem.allowRead", "gh reads its host file. The agent's own Read tool is denied the same path.", "~/.config/gh/"),
		list(Python, "sandbox.filesystem.allowRead", "Environments of tools, and their entry points.", "~/.local/share/uv/", "~/.local/bin/"),
		list(Node, "sandbox.filesystem.allowRead", "The package cache.", "~/.npm/"),
		list(Go, "sandbox.filesystem.allowRead", "The module cache and the checksum database.", "~/go/pkg/mod/", "~/go/pkg/sumdb/"),
		list(Rust, "sandbox.filesystem.allowRead", "The registry and git caches of cargo. The rest of ~/.cargo holds a token and programs.", "~/.cargo/registry/", "~/.cargo/git/"),
		list(Java, "sandbox.filesystem.allowRead", "The caches of Gradle and Maven.", "~/.gradle/caches/", "~/.m2/repository/"),
		list(GPG, "sandbox.filesystem.allowRead", "The keyring and the directory of the agent's socket. On Linux a socket cannot be opened from inside all the same.", "~/.gnupg/", "/run/user/*/gnupg/"),
		list(Container, "sandbox.filesystem.allowRead", "The command line program and its plugins. The rest of ~/.docker holds tokens.", "~/.docker/bin/", "~/.docker/cli-plugins/"),
		local(asked(SSHSign, "sandbox.filesystem.allowRead", "git config user.signingkey", "ssh-keygen opens this file to sign. It differs from machine to machine, so it goes to the local file.")),
		list(Base, "sandbox.filesystem.allowWrite", "Tools cannot run without their locks and caches.", "~/.cache/"),
		list(Python, "sandbox.filesystem.allowWrite", "uv installs tools and interpreters there.", "~/.local/share/uv/"),
		list(Node, "sandbox.filesystem.allowWrite", "The package cache.", "~/.npm/"),
		list(Go, "sandbox.filesystem.allowWrite", "The module cache and the checksum database.", "~/go/pkg/mod/", "~/go/pkg/sumdb/"),
		list(Rust, "sandbox.filesystem.allowWrite", "The registry and git caches of cargo.", "~/.cargo/registry/", "~/.cargo/git/"),
		list(Java, "sandbox.filesystem.allowWrite", "The caches of Gradle and Maven.", "~/.gradle/caches/", "~/.m2/repository/"),
		list(Base, "sandbox.network.allowedDomains", "The list is there even where nothing is on it, so that a reader sees that no host was meant to be."),
		list(GitHub, "sandbox.network.allowedDomains", "git over https, the API, and release files.", "github.com", "api.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com", "codeload.github.com", "uploads.github.com"),
		list(Python, "sandbox.network.allowedDomains", "Packages.", "pypi.org", "files.pythonhosted.org"),
		asked(Node, "sandbox.network.allowedDomains", "npm config get registry", "Packages. A private registry is found the same way."),
		list(Node, "sandbox.network.allowedDomains", "Headers for native packages, and releases of Node.", "nodejs.org"),
		asked(Go, "sandbox.network.allowedDomains", "go env GOPROXY GOSUMDB", "Modules and their checksums. A private proxy is found the same way."),
		list(Rust, "sandbox.network.allowedDomains", "Crates, and toolchains.", "*.crates.io", "static.rust-lang.org"),
		secrets(Base, "The only setting that hides environment variables from sandboxed commands (clients from 2.1.187); rules about files do not.",
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
			"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "NPM_TOKEN", "TWINE_PASSWORD"),
		strict(secrets(Base, "More names under which credentials are kept.",
			"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "PYPI_TOKEN",
			"CARGO_REGISTRY_TOKEN", "DOCKER_PASSWORD", "SSH_PRIVATE_KEY", "VAULT_TOKEN")),
		list(Base, "permissions.deny", "Stops the agent's own Read tool, which the sandbox does not cover. A command may still use gh's file.",
			"Read(~/.aws/**)", "Read(~/.ssh/**)", "Read(~/.netrc)", "Read(~/.docker/**)", "Read(~/.kube/**)", "Read(~/.config/gh/**)",
			"Read(~/.config/gcloud/**)", "Read(~/.azure/**)", "Read(//**/.env)", "Read(//**/.env.local)", "Read(//**/.env.*.local)"),
		required(list(Base, "permissions.deny", "An agent must not widen its own box. One Edit rule covers every tool that writes files.",
			"Edit(.claude/settings.json)", "Edit(.claude/settings.local.json)")),
		required(list(Base, "permissions.deny", "Hooks run outside the sandbox, so their code and configuration must not be the agent's to write.",
			"Edit(~/.claude/scripts/**)", "Edit(~/.claude/git-hooks/**)", "Edit(~/.claude/bin/**)", "Edit(~/.config/sallyport/**)", "Edit(~/.local/state/sallyport/**)")),
		list(Base, "permissions.deny", "Friction rather than enforcement: a path before the name or an interpreter gets around it. The list of allowed hosts is the control.",
			"Bash(curl *)", "Bash(wget *)", "Bash(aws *)", "Bash(gcloud *)", "Bash(az *)", "Bash(kubectl *)", "Bash(docker login *)",
			"Bash(npm publish *)", "Bash(pip install --upgrade *)", "Bash(uv self update *)"),
		list(Base, "permissions.deny", "Each of these prints or replaces the token that gh holds.",
			"Bash(gh auth token*)", "Bash(gh auth refresh*)", "Bash(gh auth status -t*)", "Bash(gh auth status * -t*)",
			"Bash(gh auth status --show-token*)", "Bash(gh auth status * --show-token*)"),
		list(Base, "permissions.ask", "Others see the result.", "Bash(git push *)"),
		list(GitHub, "permissions.ask", "Every gh command that writes, one by one. A single rule for all of gh would ask about every read too: ask is looked at before allow.", ghWrites()...),
		list(GitHub, "permissions.ask", "The options with which gh api writes, directly behind it and later.", ghAPIWrites()...),
		list(GitHub, "permissions.allow", "Reads. Each one that is missing here is a question per call.",
			"Bash(gh pr view *)", "Bash(gh pr list *)", "Bash(gh pr diff *)", "Bash(gh pr checks *)", "Bash(gh issue view *)", "Bash(gh issue list *)",
			"Bash(gh repo view *)", "Bash(gh repo list *)", "Bash(gh run view *)", "Bash(gh run list *)", "Bash(gh run watch *)",
			"Bash(gh workflow view *)", "Bash(gh workflow list *)", "Bash(gh release view *)", "Bash(gh release list *)",
			"Bash(gh label list *)", "Bash(gh cache list *)", "Bash(gh search *)", "Bash(gh browse *)", "Bash(gh auth status)",
			"Bash(gh api repos/*/*/collaborators --*)", "Bash(gh api repos/*/*/compare/*)"),
		list(Python, "permissions.allow", "Looking up a package.", "WebFetch(domain:pypi.org)"),
		list(Rust, "permissions.allow", "Looking up a crate.", "WebFetch(domain:crates.io)"),
	}
}

func secrets(g Group, why string, names ...string) Row {
	r := Row{Key: "sandbox.credentials.envVars", List: true, Name: "name", Group: g, Why: why}
	for _, n := range names {
		r.Values = append(r.Values, `{"name":"`+n+`","mode":"deny"}`)
	}
	return r
}

// ghWrites are the commands of gh that change something others see, or gh itself.
func ghWrites() (rules []string) {
	for _, line := range strings.Split(strings.TrimSpace(`
pr: create comment review merge close reopen edit ready lock unlock revert update-branch
issue: create comment close reopen edit delete lock unlock pin unpin transfer develop
release: create upload delete delete-asset edit
workflow: run enable disable
run: rerun cancel delete
repo: create delete edit fork sync archive unarchive rename set-default
repo deploy-key: add delete
repo autolink: create delete
label: create delete edit clone
cache: delete
secret: set delete
variable: set delete
gist: create edit delete rename
auth: login logout setup-git switch
alias: set import delete
extension: install remove upgrade exec
ssh-key: add delete
gpg-key: add delete
config: set
project: create edit delete close copy link unlink mark-template field-create field-delete item-add item-create item-delete item-edit item-archive
`), "\n") {
		group, words, _ := strings.Cut(line, ": ")
		for _, word := range strings.Fields(words) {
			rules = append(rules, "Bash(gh "+group+" "+word+" *)")
		}
	}
	return append(rules, "Bash(gh codespace *)")
}

// ghAPIWrites match an option with its value attached as well.
func ghAPIWrites() (rules []string) {
	for _, option := range []string{"-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"} {
		rules = append(rules, "Bash(gh api "+option+"*)", "Bash(gh api * "+option+"*)")
	}
	return rules
}
