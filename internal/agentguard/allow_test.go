package agentguard

import (
	"strings"
	"testing"

	"sallyport/guards"
	"sallyport/hookio"
)

// No verdict of the guards is told to any client as an allow: that would
// overrule the client's own rules.
func TestNoAnswerIsAllow(t *testing.T) {
	for _, h := range hookio.Harnesses() {
		for v := guards.Pass; v <= guards.Deny; v++ {
			for _, name := range []hookio.EventName{hookio.PreToolUse, hookio.PermissionRequest, hookio.PreSkillShellCommand, ""} {
				d := decision(&guards.Report{Verdict: v})
				if d.Verdict == hookio.Allow {
					t.Errorf("%s is decided as allow", v)
				}
				r := h.Encode(&hookio.Event{Harness: h.Name, Name: name}, d)
				if strings.Contains(strings.ToLower(string(r.Stdout)), "allow") || strings.Contains(string(r.Stdout), "approve") {
					t.Errorf("%s, %s of %q: %s", h.Name, v, name, r.Stdout)
				}
			}
		}
	}
}
