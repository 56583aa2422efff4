// Asks agent-guard about every tool call of OpenCode that may change something,
// and blocks the call unless the answer is that it may go on.
//
// The contract with the program stands in hookio/opencode.go. OpenCode drops a
// plugin that throws while it loads and runs everything, so nothing here happens
// before the first call; and it has no time limit for a plugin, so this has one.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const LIMIT_MS = 30_000
const MAX_OUTPUT = 64 * 1024
const MAX_REASON = 10_000

// OpenCode's own tools that neither run a command nor write a file. A tool that
// is not named here is asked about, also one that a later version brings.
const HARMLESS = new Set([
  "read", "glob", "grep", "list", "webfetch", "websearch", "codesearch",
  "todowrite", "todoread", "skill", "task", "question", "invalid",
])

// Where agent-setup puts the program; on PATH otherwise.
function program() {
  const name = process.platform === "win32" ? "agent-guard.exe" : "agent-guard"
  try {
    const installed = join(homedir(), ".claude", "scripts", name)
    if (existsSync(installed)) return installed
  } catch {
    // no home directory
  }
  return name
}

// Runs the guard. It always resolves: to what the program did, or to a failure.
function run(request) {
  return new Promise((resolve) => {
    let child
    let out = ""
    let err = ""
    const end = (result) => {
      clearTimeout(timer)
      // A grandchild may hold the pipes open; nobody waits for it.
      for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy?.()
      resolve(result)
    }
    const stop = (failure) => {
      child?.kill?.("SIGKILL")
      end({ failure })
    }
    const timer = setTimeout(() => stop(`gave no answer within ${LIMIT_MS / 1000} seconds`), LIMIT_MS)
    try {
      child = spawn(program(), ["--opencode"], { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
      child.on("error", (error) =>
        end({ failure: error?.code === "ENOENT" ? "is not installed (not in ~/.claude/scripts, not on PATH)" : `could not be started: ${error?.message}` }))
      child.stdout.setEncoding("utf8")
      child.stderr.setEncoding("utf8")
      child.stdout.on("data", (data) => {
        out += data
        if (out.length > MAX_OUTPUT) stop("printed more than an answer")
      })
      child.stderr.on("data", (data) => {
        if (err.length < MAX_OUTPUT) err += data
      })
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {}) // "close" tells
      child.on("close", (status, signal) => end({ status, signal, out, err }))
      child.stdin.end(request)
    } catch (error) {
      stop(`could not be started: ${error?.message}`)
    }
  })
}

// Without what a terminal would obey or a reader be fooled by.
function clean(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim()
    .slice(0, MAX_REASON)
}

// The reason to block the call, or null.
function verdict({ failure, status, signal, out, err }) {
  const failed = (what) => clean(`agent-guard ${what}. The call was not run, because it could not be checked.`)
  if (failure) return failed(failure)
  const answer = out.trim()
  if (status === 0 && answer === "") return null
  let parsed
  try {
    parsed = answer === "" ? undefined : JSON.parse(answer)
  } catch {
    // no answer of the contract
  }
  if ((status === 0 || status === 2) && parsed?.decision === "deny") {
    const reason = typeof parsed.reason === "string" ? clean(parsed.reason) : ""
    return reason || clean(err) || "agent-guard refused this call and gave no reason."
  }
  if (status === 2 && answer === "" && clean(err)) return clean(err)
  const end = signal ? `was ended by ${signal}` : `ended with status ${status}`
  const said = clean(err).slice(0, 500)
  return failed(`${end} and no answer that is understood${said && `: ${said}`}`)
}

export const AgentGuard = async (context) => ({
  "tool.execute.before": async (input, output) => {
    if (HARMLESS.has(input?.tool)) return
    let reason
    try {
      // What is judged is what runs: plugins share the arguments, and one that
      // is loaded later could change them after the answer.
      const args = output?.args
      if (args !== null && typeof args === "object") Object.freeze(args)
      reason = verdict(await run(JSON.stringify({
        tool: input?.tool, args, directory: context?.directory, sessionID: input?.sessionID, callID: input?.callID,
      })))
    } catch (error) {
      reason = `agent-guard could not be asked: ${clean(error?.message)}. The call was not run.`
    }
    if (reason !== null) throw new Error(reason)
  },
})
