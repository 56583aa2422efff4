// Makes one call of the plugin, as OpenCode would, from the {"input", "output"}
// on stdin, and prints what came of it. The session's directory is argv[2].
import { readFileSync } from "node:fs"
import { AgentGuard } from "../agent-guard.js"

const { input, output } = JSON.parse(readFileSync(0, "utf8"))
const hooks = await AgentGuard({ directory: process.argv[2] })
let blocked = null
try {
  await hooks["tool.execute.before"](input, output)
} catch (error) {
  blocked = error.message
}
console.log(JSON.stringify({ blocked, args: output.args }))
