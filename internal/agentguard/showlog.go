package agentguard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// maxLogLine bounds a line of a log that is read.
const maxLogLine = 1 << 20

// Log prints audit logs: the files, else the one that the configuration names.
func Log(p *cli.Process, files []string, asJSON bool) error {
	if len(files) == 0 {
		c := LoadConfig(p.Getenv, "", nil, nil).Log
		if c.Path == "" {
			return cli.Exitf(cli.ExitFindings, "no log is kept; put [log] with enabled = true into %s", UserFile(p.Getenv))
		}
		if _, err := os.Stat(c.Path); os.IsNotExist(err) {
			return nil // nothing was stopped yet
		}
		files = []string{c.Path}
	}
	for _, name := range files {
		if err := printLog(p, name, asJSON); err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
	}
	return nil
}

func printLog(p *cli.Process, name string, asJSON bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLogLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var r Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			// A line that another process has not finished.
			fmt.Fprintf(p.Stderr, "agent-guard: %s:%d: %v\n", name, n, err)
			continue
		}
		if asJSON {
			fmt.Fprintln(p.Stdout, lines.Text())
			continue
		}
		writeRecord(p.Stdout, &r)
	}
	return lines.Err()
}

func writeRecord(w io.Writer, r *Record) {
	verdict := r.Verdict
	if r.Override != "" {
		verdict += " (" + term.Clean(r.Override, 40) + ")"
	}
	fmt.Fprintf(w, "%s  %-5s %-18s %s\n", term.Clean(r.Time, 40), term.Clean(verdict, 60), term.Clean(r.Guard, 40), term.Clean(r.Command, 200))
	if r.Reason != "" {
		fmt.Fprintf(w, "    %s\n", term.Clean(r.Reason, 500))
	}
}
