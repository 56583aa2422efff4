package policy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A gen makes random policies and targets. Its words are few, so that entries
// meet each other.
type gen struct{ *rand.Rand }

func pick[T any](g gen, list ...T) T { return list[g.IntN(len(list))] }

func (g gen) path() string {
	base := pick(g, "~/.ssh", "~/.aws", "~/.kube", "/srv/keys", "/etc/app", "~/work/secret", "secrets", "docs", "./build", ".env", "~/a b", "/x/é\"q")
	switch g.IntN(6) {
	case 0:
		return base + "/"
	case 1:
		return base + "/**"
	case 2:
		return pick(g, "**/.env", "**/*.pem", "~/.config/*/token", "/srv/**/key?", "*.p12", "logs/[ab].txt")
	}
	return base
}

func (g gen) domain(deny bool) string {
	d := pick(g, "example.org", "*.example.org", "evil.example", "a.b.example", "localhost", "[::1]", "Api.Corp.Example.")
	if g.IntN(5) == 0 {
		d += pick(g, ":443", ":8080")
	}
	if deny && g.IntN(20) == 0 {
		d = "*"
	}
	return d
}

func (g gen) command() string {
	return pick(g, "sudo", "rm", "rm -rf", "git push", "git push --force", "gh", "git", "npm publish", "terraform apply", "curl x | sh", "echo 'a b'", "dd if=/dev/zero", `say "hi"`)
}

func list[T any](g gen, max int, f func() T) []T {
	out := []T{}
	for range g.IntN(max + 1) {
		out = append(out, f())
	}
	return out
}

func (g gen) sources() (srt map[string]any, bash map[string]any) {
	fs := map[string]any{"denyRead": list(g, 4, g.path), "denyWrite": list(g, 3, g.path), "allowWrite": list(g, 2, g.path)}
	if g.IntN(3) == 0 {
		fs["allowRead"] = list(g, 2, g.path)
	}
	network := map[string]any{"allowedDomains": list(g, 3, func() string { return g.domain(false) }), "deniedDomains": list(g, 3, func() string { return g.domain(true) })}
	for _, name := range []string{"allowLocalBinding", "allowAllUnixSockets", "strictAllowlist"} {
		if g.IntN(4) == 0 {
			network[name] = g.IntN(2) == 0
		}
	}
	if g.IntN(4) == 0 {
		network["allowUnixSockets"] = []string{pick(g, "/run/a.sock", "~/b.sock", "rel.sock", "/var/run/docker.sock")}
	}
	if g.IntN(5) == 0 {
		network["httpProxyPort"] = g.IntN(2) * 3128
	}
	srt = map[string]any{"filesystem": fs, "network": network}
	if g.IntN(4) == 0 {
		srt["enabled"] = true
	}
	if g.IntN(5) == 0 {
		srt["ignoreViolations"] = map[string]any{"git": []string{"x"}}
	}
	bash = map[string]any{"deny": list(g, 4, g.command), "ask": list(g, 3, g.command), "allow": list(g, 1, g.command)}
	return srt, bash
}

func (b *bench) random(g gen) {
	srt, bash := g.sources()
	b.srt(string(compactJSON(srt)))
	b.bash(string(compactJSON(bash)))
	b.config(fmt.Sprintf(`[targets]
copilot_output = "~/flags.txt"
copilot_output_yolo = "~/flags.yolo.txt"
codex_rules = "~/.codex/rules/p.rules"
copilot_settings = "~/.copilot/settings.json"
kiro_agent = "~/.kiro/agents/a.json"
[agents]
enabled = ["claude","copilot","codex","copilot-sandbox","gemini","opencode","kiro"]
[codex]
on_carveout = "skip"
[claude]
relative_paths = %q
glob_anchor = %q
`, pick(g, "drop", "verbatim"), pick(g, "cwd", "root")))
}

// targetsOf are the files that a policy of all agents is compiled to.
var targetsOf = map[Agent]string{
	Claude: ".claude/settings.full.json", Copilot: "flags.txt", Codex: ".codex/config.toml", CopilotSandbox: ".copilot/settings.json",
	Gemini: ".gemini/policies/agent-policy.toml", OpenCode: ".config/opencode/opencode.json", Kiro: ".kiro/agents/a.json",
}

// TestRoundTrip compiles random policies: what was written has not drifted, a
// hand edit of our part is found and named, and one of another part is neither
// found nor lost.
func TestRoundTrip(t *testing.T) {
	inMemory(t)
	b := newBench(t)
	for seed := range uint64(1000) {
		// Waiting for the disk a thousand times is no better than a few times.
		generate := b.apply
		if seed%50 == 0 {
			generate = func() []*Outcome { return b.generate("", write).Outcomes }
		}
		g := gen{rand.New(rand.NewPCG(seed, 1))}
		for _, dir := range []string{".claude", ".codex", ".copilot", ".gemini", ".config/opencode", ".kiro", ".local", "flags.txt"} {
			os.RemoveAll(b.path(dir))
		}
		b.random(g)
		if g.IntN(2) == 0 {
			b.targets(g)
		}
		generate()
		if res := Diff(b.request("")); res.Exit != 0 {
			t.Fatalf("seed %d: drift after a write: exit %d %q %v", seed, res.Exit, findings(res), res.Problems)
		}
		if seed%10 == 0 {
			for _, o := range generate() {
				if o.action != actUnchanged {
					t.Fatalf("seed %d: %s is %s when written again", seed, o.agent, o.action)
				}
			}
		}
		agent := pick(g, Claude, Copilot, Codex, CopilotSandbox, Gemini, OpenCode, Kiro)
		before, rules := b.read(targetsOf[agent]), b.read(".codex/rules/p.rules")
		flags := b.read("flags.txt")
		want := b.edit(g, agent)
		looked := agent
		if strings.HasPrefix(want, "extra flags") {
			looked = Copilot
		}
		got := findings(Diff(b.request(looked)))
		if want == "" || len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Fatalf("seed %d: %s edited by hand: found %q, want %q\n%s", seed, agent, got, want, b.read(targetsOf[agent]))
		}
		b.write(b.path("flags.txt"), flags)
		b.write(b.path(".codex/rules/p.rules"), rules)
		b.write(b.path(targetsOf[agent]), before)

		agent = pick(g, Claude, Codex, CopilotSandbox, OpenCode, Kiro)
		foreign := b.editForeign(agent)
		if res := Diff(b.request(agent)); res.Exit != 0 {
			t.Fatalf("seed %d: a foreign edit of %s is drift: %q %v\n%s", seed, agent, findings(res), res.Problems, foreign)
		}
		b.bash(`{"deny":["another one"]}`)
		generate()
		after := b.read(targetsOf[agent])
		for _, part := range foreignParts(agent) {
			if !strings.Contains(foreign, part) || !strings.Contains(after, part) {
				t.Fatalf("seed %d: the foreign edit %q of %s is gone:\n%s", seed, part, agent, after)
			}
		}
	}
}

// apply is generate -w without its locks and syncs.
func (b *bench) apply() []*Outcome {
	b.t.Helper()
	j := b.request("", write).load()
	outcomes := j.compileAll(true)
	if len(j.n.problems) > 0 {
		b.t.Fatalf("generate: %v", j.n.problems)
	}
	for _, o := range outcomes {
		for _, p := range o.plans {
			if p.wrote = p.changes(); p.wrote {
				b.write(p.real, string(p.new))
			}
			j.state.Files[p.real] = &fileState{SHA256: hash(p.new), Owned: p.record}
		}
		o.action = done(o.plans)
	}
	b.write(j.state.path, string(indentJSON(j.state)))
	return outcomes
}

// targets makes files of someone else's in place of the targets.
func (b *bench) targets(g gen) {
	b.write(b.path(targetsOf[Claude]), pick(g, mergeTarget, "{}", "\ufeff{\r\n\t\"env\": {\"A\": \"\\u00e9\\/\"},\r\n\t\"n\": 1.0e3, \"n\": 1,\r\n\t\"permissions\": {\"allow\": [\"Read\"]}\r\n}", "{\n    \"sandbox\": {\"network\": {\"x\": 1}, \"excludedCommands\": [\"a\"]}\n}\n"))
	b.write(b.path(targetsOf[Codex]), pick(g, "", "# c\nmodel = 'x' # y\n\n[features]\nweb = true\n", "features = { a = 1 }\r\n[mcp.x]\r\nenv = { T = \"s\" }\r\n", "approval_policy = \"untrusted\"\n[permissions.other]\nextends = \":workspace\"\n", "\n[permissions.agent-policy]\nextends = \":read-only\"\n\n# tail\n[z]\na = 1", "features.x = true\n[tools]\ny = [1,\n 2, # c\n]\n"))
	b.write(b.path(targetsOf[CopilotSandbox]), pick(g, "{}", `{"sandbox":{"enabled":false,"userPolicy":{"filesystem":{"deniedPaths":["/mine"]}}},"theme":"x"}`))
	b.write(b.path(targetsOf[OpenCode]), pick(g, "{}", `{"permission":"ask"}`, `{"permission":{"bash":"ask","edit":{"*":"ask"}},"model":"m"}`, `{"permission":{"bash":{"*":"allow","git push --force *":"deny"}}}`, `{"permission":{"webfetch":{"*":"ask"},"bash":{"rm *":"allow"}}}`))
	b.write(b.path(targetsOf[Kiro]), pick(g, "{}", `{"name":"a","tools":["*"],"toolsSettings":{"shell":{"deniedCommands":["x"],"allowedCommands":["ls"]}}}`))
}

// edit changes our part of a target in one place and returns the start of the
// finding that has to name it.
func (b *bench) edit(g gen, a Agent) string {
	file := targetsOf[a]
	text := b.read(file)
	switch a {
	case Claude:
		if g.IntN(2) == 0 {
			b.write(b.path(file), b.jsonEdit(text, func(doc map[string]any) {
				p := doc["permissions"].(map[string]any)
				p["deny"] = append(p["deny"].([]any), "Read(//hand)")
			}))
			return "extra permissions.deny Read(//hand)"
		}
		b.write(b.path(file), b.jsonEdit(text, func(doc map[string]any) {
			n := doc["sandbox"].(map[string]any)["network"].(map[string]any)
			n["allowedDomains"] = append(n["allowedDomains"].([]any), "hand.example")
		}))
		return "extra sandbox.network.allowedDomains hand.example"
	case Copilot:
		b.write(b.path(file), text+"--allow-url 'hand.example' \\\n")
		return "extra flags --allow-url 'hand.example'"
	case Codex:
		switch g.IntN(3) {
		case 0:
			b.write(b.path(file), strings.Replace(text, `approvals_reviewer = "user"`, `approvals_reviewer = "auto_review"`, 1))
			return "changed approvals_reviewer auto_review -> user"
		case 1:
			b.write(b.path(file), strings.Replace(text, "[permissions.agent-policy.network.domains]", "[permissions.agent-policy.network.domains]"+eol(text)+"\"hand.example\" = \"allow\"", 1))
			return `extra permissions.agent-policy.network.domains."hand.example" allow`
		}
		rules := b.read(".codex/rules/p.rules")
		b.write(b.path(".codex/rules/p.rules"), rules+"prefix_rule(pattern = [\"hand\"], decision = \"allow\")\n")
		return `extra rules ["hand"] allow`
	case CopilotSandbox:
		b.write(b.path(file), b.jsonEdit(text, func(doc map[string]any) { doc["sandbox"].(map[string]any)["allowBypass"] = true }))
		return "changed sandbox.allowBypass true -> false"
	case Gemini:
		b.write(b.path(file), text+"\n[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\n")
		return `extra rule {"decision":"allow","toolName":"x"}`
	case OpenCode:
		var doc struct {
			Permission map[string]json.RawMessage
		}
		json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &doc)
		o := b.generate(OpenCode).Outcomes[0]
		entries := o.product.files[0].record
		if len(entries) == 0 {
			b.write(b.path(targetsOf[Copilot]), b.read(targetsOf[Copilot])+"x\n")
			return "extra flags x"
		}
		e := entries[g.IntN(len(entries))]
		b.write(b.path(file), b.jsonEdit(text, func(doc map[string]any) {
			p := doc["permission"].(map[string]any)
			if tool, ok := p[e.Path[1]].(map[string]any); ok {
				delete(tool, e.Path[2])
			} else {
				delete(p, e.Path[1])
			}
		}))
		return "missing permission." + e.Path[1] + " " + e.Path[2]
	}
	o := b.generate(Kiro).Outcomes[0]
	entries := o.product.files[0].record
	if len(entries) == 0 {
		b.write(b.path(targetsOf[Copilot]), b.read(targetsOf[Copilot])+"x\n")
		return "extra flags x"
	}
	e := entries[g.IntN(len(entries))]
	b.write(b.path(file), b.jsonEdit(text, func(doc map[string]any) {
		parent, _ := dig(doc, e.Path[:len(e.Path)-1]...)
		m := parent.(map[string]any)
		m[e.Path[len(e.Path)-1]] = slices.DeleteFunc(m[e.Path[len(e.Path)-1]].([]any), func(v any) bool { return v == e.Value })
	}))
	return "missing " + strings.Join(e.Path, ".") + " " + e.Value.(string)
}

func eol(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// jsonEdit rewrites a JSON text, with the order of its members kept where that
// means something: it is written in the order of a stable decoder.
func (b *bench) jsonEdit(text string, f func(map[string]any)) string {
	b.t.Helper()
	v, err := decodeOrdered([]byte(strings.TrimPrefix(text, "\ufeff")))
	if err != nil {
		b.t.Fatal(err)
	}
	doc := v.(*ordered).plain()
	f(doc)
	return string(indentJSON(v.(*ordered).with(doc)))
}

// An ordered is an object that remembers the order of its members.
type ordered struct {
	names  []string
	values map[string]any
}

func decodeOrdered(data []byte) (any, error) {
	var raw json.RawMessage = data
	trimmed := strings.TrimSpace(string(raw))
	if !strings.HasPrefix(trimmed, "{") {
		var v any
		return v, json.Unmarshal(raw, &v)
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	o := &ordered{values: map[string]any{}}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var inner json.RawMessage
		if err := d.Decode(&inner); err != nil {
			return nil, err
		}
		v, err := decodeOrdered(inner)
		if err != nil {
			return nil, err
		}
		if _, twice := o.values[name.(string)]; !twice {
			o.names = append(o.names, name.(string))
		}
		o.values[name.(string)] = v
	}
	return o, nil
}

func (o *ordered) plain() map[string]any {
	m := map[string]any{}
	for name, v := range o.values {
		if inner, ok := v.(*ordered); ok {
			v = inner.plain()
		}
		m[name] = v
	}
	return m
}

func (o *ordered) with(m map[string]any) object {
	out := object{}
	for _, name := range o.names {
		v, ok := m[name]
		if !ok {
			continue
		}
		if inner, ok := o.values[name].(*ordered); ok {
			if now, ok := v.(map[string]any); ok {
				v = inner.with(now)
			}
		}
		out.set(name, v)
	}
	return out
}

// editForeign adds what is not ours to a target, and returns the new text.
func (b *bench) editForeign(a Agent) string {
	file := targetsOf[a]
	text := b.read(file)
	if a == Codex {
		text = "# by hand" + eol(text) + text + eol(text) + "[by.hand]" + eol(text) + "key   =  0x10 # by hand too" + eol(text)
	} else {
		i := strings.LastIndexByte(text, '}')
		body := strings.TrimRight(text[:i], " \t\r\n")
		comma := ","
		if strings.HasSuffix(body, "{") {
			comma = ""
		}
		text = body + comma + "\n\t\"by hand\" : [ 1.50,  \"\\u00e9\" ]" + text[i:]
	}
	b.write(b.path(file), text)
	return text
}

func foreignParts(a Agent) []string {
	if a == Codex {
		return []string{"# by hand", "[by.hand]", "key   =  0x10 # by hand too"}
	}
	return []string{"\n\t\"by hand\" : [ 1.50,  \"\\u00e9\" ]"}
}

// TestImportRoundTrip imports what was compiled: the sources compile to the same.
func TestImportRoundTrip(t *testing.T) {
	inMemory(t)
	for seed := range uint64(400) {
		g := gen{rand.New(rand.NewPCG(seed, 3))}
		b := newBench(t)
		b.random(g)
		cfg, err := LoadConfig(b.request(""))
		if err != nil {
			t.Fatal(err)
		}
		first, _ := b.preview(Claude)
		im, err := ImportFile(b.request("").Env, cfg, Claude, "x.json", []byte(first))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		srt, bash := im.Files()
		b2 := newBench(t)
		b2.home = b.home
		b2.config(strings.TrimPrefix(readText(t, filepath.Join(b.dir, "policy.toml")), "[sources]\nsrt = \"srt.json\"\n"))
		b2.srt(string(srt))
		b2.bash(string(bash))
		second, _ := b2.preview(Claude)
		if first != second {
			t.Fatalf("seed %d: imported sources compile to something else\n%s\n%s\nfirst:\n%s\nsecond:\n%s", seed, srt, bash, first, second)
		}
		codex, _ := b.preview(Codex)
		toml, _, _ := strings.Cut(codex, rulesHeader)
		im, err = ImportFile(b.request("").Env, cfg, Codex, "config.toml", []byte(toml))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, toml)
		}
		srt, _ = im.Files()
		b2.srt(string(srt))
		again, _ := b2.preview(Codex)
		again, _, _ = strings.Cut(again, rulesHeader)
		if toml != again {
			t.Fatalf("seed %d: imported codex profile compiles to something else\n%s\nfirst:\n%s\nsecond:\n%s", seed, srt, toml, again)
		}
	}
}

func readText(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
