// The plugin against a fake agent-guard on PATH: node --test agent-guard.test.mjs
import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { after, beforeEach, describe, mock, test } from "node:test"

const plugin = await import("./agent-guard.js")

const root = mkdtempSync(join(tmpdir(), "agent-guard-"))
const bin = join(root, "bin")
const home = join(root, "home")
const path = process.env.PATH
after(() => rmSync(root, { recursive: true, force: true }))

function put(file, script) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, "#!/bin/sh\n" + script + "\n")
  chmodSync(file, 0o755)
}
const guard = (script) => put(join(bin, "agent-guard"), script)

beforeEach(() => {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(bin, { recursive: true })
  mkdirSync(home)
  process.env.HOME = process.env.USERPROFILE = home
  process.env.PATH = [bin, path].join(delimiter)
})

async function call(args = { command: "git push", description: "d" }, tool = "bash") {
  const hooks = await plugin.AgentGuard({ directory: root })
  await hooks["tool.execute.before"]({ tool, sessionID: "ses_1", callID: "call_1" }, { args })
}
const blocked = (want, args, tool) => assert.rejects(call(args, tool), (error) => {
  assert.ok(error instanceof Error)
  assert.match(error.message, want)
  return true
})

describe("loading", () => {
  test("exports one thing: the client takes every exported function for a plugin", () => {
    assert.deepEqual(Object.keys(plugin), ["AgentGuard"])
  })
  test("never throws, whatever it is given", async () => {
    for (const context of [undefined, null, {}, { directory: 1 }]) {
      assert.equal(typeof (await plugin.AgentGuard(context))["tool.execute.before"], "function")
    }
  })
})

describe("answers", () => {
  test("silence and exit 0: the call goes on with its arguments as they were", async () => {
    guard("cat > /dev/null")
    const args = { command: "git push", workdir: "/x" }
    await call(args)
    assert.deepEqual(args, { command: "git push", workdir: "/x" })
  })
  test("notes on stderr with exit 0 are no answer", async () => {
    guard("echo debugging >&2")
    await call()
  })
  test("a deny is thrown with its reason, line breaks kept", async () => {
    guard(`printf '%s' '{"decision":"deny","reason":"no: because\\nso there"}'; echo other >&2; exit 2`)
    await blocked(/^no: because\nso there$/)
  })
  test("a deny counts with exit 0 as well", async () => {
    guard(`echo '{"decision":"deny","reason":"no"}'`)
    await blocked(/^no$/)
  })
  test("a deny without a reason falls back to stderr, then to a text of its own", async () => {
    guard(`echo '{"decision":"deny"}'; echo words >&2; exit 2`)
    await blocked(/^words$/)
    guard(`echo '{"decision":"deny","reason":{}}'; exit 2`)
    await blocked(/gave no reason/)
  })
  test("exit 2 with a text alone is a deny", async () => {
    guard("echo words >&2; exit 2")
    await blocked(/^words$/)
  })
  test("what a terminal would obey is taken out of a reason", async () => {
    guard(`printf '{"decision":"deny","reason":"a\\\\u001b[2Jb\\\\u202ec"}'; exit 2`)
    await blocked(/^a\[2Jbc$/)
  })
})

describe("failures block", () => {
  test("missing", async () => {
    process.env.PATH = bin
    await blocked(/agent-guard is not installed .* not run/)
  })
  test("not executable", async () => {
    process.env.PATH = bin
    writeFileSync(join(bin, "agent-guard"), "x")
    await blocked(/agent-guard (could not be started|is not installed)/)
  })
  for (const [name, script] of [
    ["garbage", "echo hello"],
    ["broken JSON", "echo '{\"decision\":\"deny\"'"],
    ["text before the JSON", `echo 'note {"decision":"deny","reason":"r"}'`],
    ["an allow", `echo '{"decision":"allow"}'`],
    ["an unknown decision", `echo '{"decision":"maybe"}'; exit 2`],
    ["an empty object", "echo '{}'"],
    ["null", "echo null"],
    ["a number", "echo 1"],
    ["exit 1", "exit 1"],
    ["exit 1 with a deny", `echo '{"decision":"deny","reason":"r"}'; exit 1`],
    ["exit 2 without a word", "exit 2"],
    ["exit 64, as an old program that does not know the flag", "echo 'unknown flag' >&2; exit 64"],
    ["exit 127", "exit 127"],
    ["a signal", "kill -9 $$"],
  ]) {
    test(name, async () => {
      guard(script)
      await blocked(/agent-guard (ended with status|was ended by).* not run/)
    })
  }
  test("a word of what it said stands in the message, cleaned", async () => {
    guard("printf 'unknown \\033[31mflag' >&2; exit 64")
    await blocked(/status 64 and no answer that is understood: unknown \[31mflag/)
  })
  test("huge output ends at once", async () => {
    guard("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done")
    await blocked(/printed more than an answer/)
  })
  test("huge stderr is cut", async () => {
    guard("head -c 3000000 /dev/zero | tr '\\0' e >&2; exit 2")
    await assert.rejects(call(), (error) => error.message.length <= 10_000 && /^e+$/.test(error.message))
  })
  test("no answer in time, also when a child of it holds the pipes open", async () => {
    mock.timers.enable({ apis: ["setTimeout"] })
    try {
      guard(`sleep 600 & echo $! > ${root}/pid; : > ${root}/started; exec sleep 600`)
      const outcome = assert.rejects(call(), /no answer within 30 seconds/)
      while (!existsSync(join(root, "started"))) await new Promise(setImmediate)
      mock.timers.tick(29_999)
      await new Promise(setImmediate)
      mock.timers.tick(1)
      await outcome
    } finally {
      mock.timers.reset()
      process.kill(Number(readFileSync(join(root, "pid"), "utf8")), "SIGKILL")
    }
  })
  test("arguments that cannot be written as JSON", async () => {
    guard("exit 0")
    const args = {}
    args.self = args
    await blocked(/could not be asked/, args)
  })
})

describe("the question", () => {
  test("is the contract of agent-guard --opencode", async () => {
    guard(`echo "$@" > ${root}/flags; cat > ${root}/request`)
    await call({ command: "ls", workdir: "sub" })
    assert.equal(readFileSync(join(root, "flags"), "utf8"), "--opencode\n")
    assert.deepEqual(JSON.parse(readFileSync(join(root, "request"), "utf8")), {
      tool: "bash", args: { command: "ls", workdir: "sub" }, directory: root, sessionID: "ses_1", callID: "call_1",
    })
  })
  test("arrives whole when it is large, and need not be read", async () => {
    const content = "x".repeat(4_000_000)
    guard(`wc -c > ${root}/size`)
    await call({ filePath: "a", content }, "write")
    assert.ok(Number(readFileSync(join(root, "size"), "utf8")) > content.length)
    guard("exit 0")
    await call({ filePath: "a", content }, "write")
  })
  test("is not asked about tools that only read, and is about all others", async () => {
    guard(`echo '{"decision":"deny","reason":"asked"}'; exit 2`)
    for (const tool of ["read", "glob", "grep", "list", "task"]) await call({}, tool)
    for (const tool of ["bash", "write", "edit", "patch", "a-new-tool", undefined, "constructor"]) {
      await blocked(/^asked$/, {}, tool ?? null)
    }
  })
  test("goes to the installed program rather than to one that PATH finds first", async () => {
    guard("exit 0")
    put(join(home, ".claude", "scripts", "agent-guard"), `echo '{"decision":"deny","reason":"installed"}'; exit 2`)
    await blocked(/^installed$/)
  })
  test("arguments cannot change after it, neither meanwhile nor later", async () => {
    guard("cat > /dev/null; sleep 0.05")
    const args = { command: "ls" }
    const pending = call(args)
    await new Promise(setImmediate)
    assert.throws(() => { args.command = "rm -rf /" }, TypeError)
    await pending
    assert.throws(() => { args.command = "rm -rf /" }, TypeError)
    assert.throws(() => { args.workdir = "/" }, TypeError)
    assert.deepEqual(args, { command: "ls" })
  })
})
