package setup

import "os"

// InsideSandbox reports the evidence that this process runs in the client's
// sandbox. One sign alone is not enough.
func InsideSandbox(getenv func(string) string) (evidence []string, inside bool) {
	return insideSandbox(getenv, os.ReadFile)
}
