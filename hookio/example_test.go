package hookio_test

import (
	"fmt"

	"sallyport/hookio"
)

// A hook that stops one command, for any harness that --harness can name.
func Example() {
	for _, call := range []struct{ harness, event string }{
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"rm -rf /"}}`},
	} {
		harness, _ := hookio.Lookup(call.harness)
		ev, err := harness.Decode([]byte(call.event))
		if err != nil || ev.Shell == hookio.NotShell || ev.Command != "rm -rf /" {
			continue
		}
		reply := harness.Encode(&ev, hookio.Decision{Verdict: hookio.Deny, Reason: "that is the whole disk"})
		fmt.Printf("%s: stdout %q, stderr %q, exit %d\n", harness.Name, reply.Stdout, reply.Stderr, reply.Exit)
	}
	// Output:
	// claude: stdout "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"that is the whole disk\"}}\n", stderr "", exit 0
	// gemini: stdout "", stderr "that is the whole disk\n", exit 2
}
