package lint

import (
	"slices"
	"strings"
)

// clientTools are the built-in tools that rules may name, those of older
// clients included.
var clientTools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "Brief", "Cd", "Config", "CronCreate", "CronDelete", "CronList", "Edit",
	"EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "LS", "LSP",
	"ListMcpResources", "ListMcpResourcesTool", "Mcp", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell",
	"PushNotification", "REPL", "Read", "ReadMcpResource", "ReadMcpResourceDir", "ReadMcpResourceDirTool", "ReadMcpResourceTool",
	"RemoteTrigger", "ScheduleWakeup", "SendMessage", "SendUserFile", "SendUserMessage", "Skill", "Sleep", "SlashCommand",
	"StructuredOutput", "SubscribeMcpResource", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
	"TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
}

func knownTool(name string) bool { return slices.Contains(clientTools, name) }

// maxNames bounds the mistyped names that a tool is looked for.
const maxNames = 1000

// nearestTool is the tool a mistyped name most likely means, empty if none is
// near.
func (r *run) nearestTool(name string) string {
	tool, known := r.nearest[name]
	if !known && len(r.nearest) < maxNames {
		tool = nearestTool(name)
		r.nearest[name] = tool
	}
	return tool
}

func nearestTool(name string) string {
	best, distance := "", 3
	if len(name) > 40 {
		return ""
	}
	for _, tool := range clientTools {
		d := 0
		if !strings.EqualFold(tool, name) {
			if n := len(tool) - len(name); n >= distance || -n >= distance {
				continue
			}
			d = editDistance(strings.ToLower(name), strings.ToLower(tool))
			if d >= len(tool)-1 {
				continue
			}
		}
		if d < distance {
			best, distance = tool, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours.
func editDistance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
