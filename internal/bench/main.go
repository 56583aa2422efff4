// Bench prints what each program of the suite costs as a whole process, as
// ratios to a static Go program that reads stdin and exits.
//
// Usage:
//
//	scripts/bench [-n RUNS] [-only PREFIX]
//
// The floor and a program run in turn (A B A B …), so that a machine whose
// speed drifts slows both; the median of the pairwise ratios is what counts.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

const floorSource = `package main

import (
	"io"
	"os"
)

func main() { io.Copy(io.Discard, os.Stdin) }
`

func main() {
	runs := flag.Int("n", 60, "counted runs of each program")
	only := flag.String("only", "", "only rows whose name starts so")
	flag.Parse()
	if err := bench(*runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A row is one program on one input.
type row struct {
	name   string
	argv   []string
	stdin  string
	dir    string
	budget string   // what core promises, for the reader
	over   []string // what the ratio is taken over; the floor if empty
}

func bench(runs int, only string) error {
	tmp, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	floor, err := build(tmp)
	if err != nil {
		return err
	}
	rows, env, err := rows(tmp)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\tinput\tmedian ms\tfloor ms\tratio\tpeak MiB\tbudget\t")
	for _, r := range rows {
		if !strings.HasPrefix(r.name, only) {
			continue
		}
		if _, err := exec.LookPath(r.argv[0]); err != nil {
			continue
		}
		over := r.over
		if over == nil {
			over = []string{floor}
		}
		m, err := compare(runs, r, over, env)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		program, input, _ := strings.Cut(r.name, ": ")
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.2f\t%.1f\t%s\t\n", program, input, ms(m.program), ms(m.over), m.ratio, m.peak, r.budget)
	}
	return w.Flush()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// build makes the floor and every program of the suite.
func build(tmp string) (floor string, err error) {
	src := filepath.Join(tmp, "floor")
	if err := os.MkdirAll(src, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(src, "main.go"), []byte(floorSource), 0o644); err != nil {
		return "", err
	}
	floor = filepath.Join(tmp, "bin", "floor")
	for _, args := range [][]string{
		{"-o", floor, filepath.Join(src, "main.go")},
		{"-o", filepath.Join(tmp, "bin") + string(filepath.Separator), "./cmd/..."},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return floor, nil
}

func rows(tmp string) ([]row, []string, error) {
	bin := func(name string) string { return filepath.Join(tmp, "bin", name) }
	home := filepath.Join(tmp, "home")
	env := append(cleanEnviron(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "COLUMNS=120")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, nil, err
	}
	small, err := repository(tmp, "files-5000", 5000, env)
	if err != nil {
		return nil, nil, err
	}
	large, err := repository(tmp, "files-60000", 60000, env)
	if err != nil {
		return nil, nil, err
	}
	call := func(command string) string { return event("PreToolUse", map[string]any{"command": command}, nil) }
	failed := func(text string) string {
		return event("PostToolUseFailure", map[string]any{"command": "make"}, map[string]any{"error": "Exit code 2\n" + text})
	}
	line := func(dir string) string {
		return encode(map[string]any{"model": map[string]any{"display_name": "Opus"}, "cwd": dir,
			"workspace": map[string]any{"current_dir": dir, "project_dir": dir}})
	}
	status := []string{"git", "--no-optional-locks", "-C", small, "status", "--porcelain=v2", "--branch", "-uno"}
	return []row{
		{name: "bypass-warn: ordinary call", argv: []string{bin("bypass-warn")}, stdin: call("ls -la"), budget: "1.5 x"},
		{name: "bypass-warn: 1 MiB command", argv: []string{bin("bypass-warn")}, stdin: call(strings.Repeat("true; ", 1<<20/6))},
		{name: "error-hint: ordinary failure", argv: []string{bin("error-hint")}, stdin: failed("make: *** [all] Error 1"), budget: "1.5 x"},
		{name: "error-hint: 64 KiB of output", argv: []string{bin("error-hint")}, stdin: failed(strings.Repeat("cc -c -o x.o x.c\n", 4096)), budget: "2 ms"},
		{name: "agent-guard: ls", argv: []string{bin("agent-guard")}, stdin: call("ls -la"), budget: "1.5 x"},
		{name: "agent-guard: go test | tail", argv: []string{bin("agent-guard")}, stdin: call("cd src && go test ./... 2>&1 | tail -20"), budget: "1.5 x"},
		{name: "agent-guard: git commit", argv: []string{bin("agent-guard")}, stdin: call("git commit -m 'fix: typo'")},
		{name: "agent-guard: 100 KiB command", argv: []string{bin("agent-guard")}, stdin: call(strings.Repeat("true; ", 100<<10/6)), budget: "30 ms"},
		{name: "status-line: no repository", argv: []string{bin("status-line")}, stdin: line(home), dir: home, budget: "3 x"},
		{name: "status-line: 5,000 files, over git status", argv: []string{bin("status-line")}, stdin: line(small), dir: small, over: status, budget: "git status + 3 floors"},
		{name: "status-line: 60,000 files", argv: []string{bin("status-line")}, stdin: line(large), dir: large, budget: "150 ms"},
	}, env, nil
}

// cleanEnviron is the environment without what would change the programs' work.
func cleanEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		for _, p := range []string{"HOME=", "GIT_", "XDG_", "CLAUDE", "SALLYPORT_", "AGENT_", "MAGPIE_", "NO_COLOR="} {
			if strings.HasPrefix(kv, p) {
				return true
			}
		}
		return false
	})
}

func event(name string, input, more map[string]any) string {
	e := map[string]any{"session_id": "00000000-0000-4000-8000-000000000000", "transcript_path": "/tmp/t.jsonl",
		"cwd": "/tmp", "hook_event_name": name, "permission_mode": "default", "tool_name": "Bash",
		"tool_input": input, "tool_use_id": "toolu_1"}
	for k, v := range more {
		e[k] = v
	}
	return encode(e)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// repository makes a committed repository of n small files.
func repository(tmp, name string, n int, env []string) (string, error) {
	dir := filepath.Join(tmp, name)
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i%250))
		if i < 250 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%05d", i)), []byte(fmt.Sprintln(i)), 0o644); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"-c", "user.name=Dev", "-c", "user.email=dev@example.com", "commit", "-q", "-m", "files"},
		{"status", "--porcelain"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}
	return dir, nil
}

type measurement struct {
	program, over time.Duration
	ratio         float64
	peak          float64
}

// compare runs the program and what it is measured over in turn.
func compare(runs int, r row, over, env []string) (measurement, error) {
	var m measurement
	var a, b []time.Duration
	var ratios []float64
	for i := range runs + 2 {
		ta, peak, err := once(r.argv, r.stdin, r.dir, env)
		if err != nil {
			return m, err
		}
		tb, _, err := once(over, r.stdin, r.dir, env)
		if err != nil {
			return m, err
		}
		if i < 2 {
			continue // warm-up
		}
		a, b = append(a, ta), append(b, tb)
		ratios = append(ratios, float64(ta)/float64(tb))
		m.peak = max(m.peak, peak)
	}
	m.program, m.over, m.ratio = median(a), median(b), median(ratios)
	return m, nil
}

func once(argv []string, stdin, dir string, env []string) (time.Duration, float64, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = bytes.NewReader([]byte(stdin))
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		return 0, 0, err
	}
	return took, peakMiB(cmd.ProcessState), nil
}

func median[T time.Duration | float64](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}
