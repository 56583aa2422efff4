package guards

import "sallyport/internal/shellcmd"

// forkBomb stops a function that keeps starting itself.
func forkBomb(line *shellcmd.Line) []Finding {
	if !line.ForkBomb {
		return nil
	}
	return []Finding{{
		Verdict: Deny,
		Found:   "a function that keeps starting itself",
		Why:     "a fork bomb stops the machine",
		Fix:     "Start a fixed number of processes, with `xargs -P 4` for one",
	}}
}
