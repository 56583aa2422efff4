#!/usr/bin/env python3
"""Run scenario files against the real client that each names, and a fake API.

usage: run_others.py [-v] SCENARIO.json ...

For Codex CLI, Gemini CLI, OpenCode, Copilot CLI and Qwen Code; Claude Code has run.py.

environment:
  E2E_CLIENT_DIR  folder with the clients as npm installed them (required)
  E2E_BIN_DIR     folder with the built binaries, ${BIN} in scenarios
  E2E_WORK_DIR    where to keep the runs (default: a new temporary folder)

See README.md for the scenario format. Exit status 1 when any scenario fails.
"""
import hashlib
import json
import os
import subprocess

import run

MODEL = "claude-sonnet-4-5"
PROJECT_SETTINGS = {"opencode": "opencode.json", "copilot": ".github/copilot/settings.json",
                    "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json"}
# Where a user puts the file of integrations/<client>/. Those with None are merged into the user's settings.
WIRING = {"codex": ".codex/hooks.json", "copilot": ".copilot/hooks/agent-guard.json",
          "opencode": ".config/opencode/plugin/agent-guard.js", "gemini": None, "qwen": None}


def snake(event):
    return "".join("_" + c.lower() if c.isupper() else c for c in event).lstrip("_")


def codex_trust(path, hooks):
    """The config.toml entries with which Codex takes these hooks as reviewed by the user."""
    lines = []
    for event, groups in hooks.items():
        for g, group in enumerate(groups):
            for h, hook in enumerate(group["hooks"]):
                known = {k: hook[k] for k in ("type", "command", "statusMessage") if k in hook}
                known.update({"async": hook.get("async", False), "timeout": hook.get("timeout", 600)})
                identity = {"event_name": snake(event), "hooks": [known]}
                if "matcher" in group:
                    identity["matcher"] = group["matcher"]
                text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                digest = hashlib.sha256(text.encode()).hexdigest()
                lines += [f'[hooks.state."{path}:{snake(event)}:{g}:{h}"]', f'trusted_hash = "sha256:{digest}"']
    return "\n".join(lines) + "\n"


class Other(run.Run):
    def __init__(self, path, root, folder, bin_dir):
        with open(path) as f:
            self.kind = json.load(f)["client"]
        super().__init__(path, root, os.path.join(folder, "node_modules", ".bin", self.kind), bin_dir)
        self.fake = "fake_models.py" if self.kind in ("codex", "gemini") else "fake_api.py"

    @staticmethod
    def client_in(folder):
        return folder

    def missing(self):
        return ([] if os.access(self.client, os.X_OK) else [self.kind]) + super().missing()

    # ---- set up: the clients want to know the port, so their settings are written by env()
    def set_up(self):
        for folder in (self.home, self.project, self.capture, os.path.join(self.work, "tmp")):
            os.makedirs(folder)
        self.write(os.path.join(self.work, "script.json"),
                   {k: self.s[k] for k in ("turns", "conversations") if k in self.s})
        # In the repository, not in the home: Gemini keeps the user's git configuration from its commands.
        self.shell("git init -q . && git config user.name dev && git config user.email dev@example.com && "
                   "git commit -q --allow-empty -m init", self.project)
        self.install_guard()
        for name, text in self.s.get("files", {}).items():
            self.write(os.path.join(self.work, name), text, 0o755)
        if "setup" in self.s:
            self.shell(self.s["setup"], self.project)

    def hooks(self):
        """Hooks for the client's user file: those of the wiring, then the scenario's own."""
        hooks = {}
        wired = json.loads(self.wiring() or "{}") if self.kind != "opencode" else {}
        for source in (wired.get("hooks", {}), self.s.get("hooks", {})):
            for event, groups in source.items():
                hooks.setdefault(event, []).extend(groups)
        return hooks

    def user(self, place, defaults):
        self.write(os.path.join(self.home, place), {**defaults, **self.s.get("user_settings", {})})

    def env(self, port):
        env = {"HOME": self.home, "PATH": os.path.dirname(self.client) + os.pathsep + os.environ["PATH"],
               "TERM": "xterm-256color", "LANG": "C.UTF-8", "TMPDIR": os.path.join(self.work, "tmp")}
        if port:
            for key, place in (("project_settings", PROJECT_SETTINGS.get(self.kind)),
                               ("claude_settings", ".claude/settings.json")):
                if key in self.s:
                    self.write(os.path.join(self.project, place), self.s[key])
            place = self.s.get("wiring_to", WIRING[self.kind])
            if place and self.wiring():
                self.write(os.path.join(self.home, place), self.wiring())
            env.update(getattr(self, self.kind)(port))
        env.update(self.s.get("env", {}))
        return {k: v for k, v in env.items() if v is not None}

    # ---- one method a client: writes its settings, returns its environment
    def codex(self, port):
        # CODEX_HOME must not be below TMPDIR: Codex would not put its sandbox helper there.
        home = os.path.join(self.home, ".codex")
        path = os.path.join(home, "hooks.json")
        if self.s.get("hooks"):
            self.write(path, {"hooks": self.hooks()})
        trusted = self.s.get("trust", "hash") == "hash"
        self.write(os.path.join(home, "config.toml"), "\n".join([
            'model_provider = "fake"', f'model = "{self.s.get("model", "gpt-5.5")}"',
            "check_for_update_on_startup = false", self.s.get("config_top", ""),
            "[model_providers.fake]", 'name = "fake"', f'base_url = "http://127.0.0.1:{port}/v1"',
            'env_key = "FAKE_API_KEY"', 'wire_api = "responses"',
            f'[projects."{self.project}"]', f'trust_level = "{self.s.get("project_trust", "trusted")}"',
            self.s.get("config", ""), codex_trust(path, self.hooks()) if trusted else ""]))
        return {"FAKE_API_KEY": "dummy"}

    def gemini(self, port):
        self.user(".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "hooks": self.hooks(),
            "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}})
        if self.s.get("project_trust", "trusted") == "trusted":
            self.write(os.path.join(self.home, ".gemini", "trustedFolders.json"), {self.project: "TRUST_FOLDER"})
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"}

    def opencode(self, port):
        # It fetches an npm package for every config folder with plugins; this registry does not answer.
        self.write(os.path.join(self.home, ".npmrc"), "registry=http://127.0.0.1:9/\nfetch-retries=0\n")
        self.user(".config/opencode/opencode.json", {
            "model": "anthropic/" + MODEL, "small_model": "anthropic/" + MODEL, "share": "disabled",
            "enabled_providers": ["anthropic"],
            "provider": {"anthropic": {"options": {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "dummy"}}}})
        return {"ANTHROPIC_API_KEY": "dummy", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}

    def copilot(self, port):
        self.user(".copilot/settings.json", {})
        if "hooks" in self.s:
            self.write(os.path.join(self.home, ".copilot/hooks/e2e.json"), {"version": 1, "hooks": self.s["hooks"]})
        return {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_TYPE": "anthropic",
                "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{port}", "COPILOT_PROVIDER_API_KEY": "dummy",
                "COPILOT_MODEL": MODEL}

    def qwen(self, port):
        self.user(".qwen/settings.json", {"$version": 3, "security": {"auth": {"selectedType": "anthropic"}},
                                          "hooks": self.hooks()})
        return {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"}

    # ---- drive
    def drive_print(self, argv, port):
        prompt, args = self.s.get("prompt", "go"), argv[1:]
        argv = argv[:1] + {
            "codex": ["exec", *args, prompt],
            "gemini": ["-m", "gemini-2.5-pro", *args, "-o", "stream-json", "-p", prompt],
            "opencode": ["run", "--format", "json", "--title", "e2e", *args, prompt],
            "copilot": [*args, "--output-format", "json", "-p", prompt],
            "qwen": ["--auth-type", "anthropic", "-m", MODEL, *args, "-o", "stream-json", "-p", prompt],
        }[self.kind]
        try:
            done = subprocess.run(argv, cwd=self.s.get("cwd", self.project), env=self.env(port),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=self.s.get("timeout", 60))
            self.out.update(stdout=done.stdout, stderr=done.stderr, exit=str(done.returncode))
        except subprocess.TimeoutExpired as e:
            self.out.update(stdout=(e.stdout or b"").decode(), stderr=(e.stderr or b"").decode(), exit="timeout")

    def collect(self, log):
        if self.fake == "fake_api.py":
            return super().collect(log)
        results, texts = [], []
        for line in run.read(log).splitlines():
            body = json.loads(line)["body"] or {}
            for item in body.get("input", []):   # OpenAI Responses API
                if item.get("type", "").endswith("_output"):
                    parts = item.get("output") or ""
                    results.append(parts if isinstance(parts, str) else
                                   "\n".join(p.get("text", "") for p in parts))
                for part in item.get("content") or []:
                    texts.append(part.get("text", ""))
            for content in body.get("contents", []):   # Gemini API
                for part in content.get("parts", []):
                    if "functionResponse" in part:
                        results += map(str, part["functionResponse"]["response"].values())
                    elif "text" in part:
                        texts.append(part["text"])
        self.keep(results, texts)


if __name__ == "__main__":
    run.main(Other, __doc__)
