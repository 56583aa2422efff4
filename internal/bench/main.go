// Bench prints what each program of the suite costs as a whole process, as
// ratios to a static Go program that reads stdin and exits.
//
// Usage:
//
//	scripts/bench [-n RUNS] [-only PREFIX] [-ccstatusline]
//
// The programs of a row run in turn (A B A B …), so that a machine whose speed
// drifts slows all of them; the medians of the ratios and differences within a
// turn are what counts.
//
// -ccstatusline adds rows that compare status-line with the npm package of
// that name, on the same payload and directories. It needs npm and a network.
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
	cc := flag.Bool("ccstatusline", false, "compare with ccstatusline, installed with npm into a temporary directory")
	flag.Parse()
	if err := bench(*runs, *only, *cc); err != nil {
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
	budget string // what is promised, for the reader
	// over is another program that runs in the same turns; the row then tells
	// how many times its time the program takes.
	over []string
	// extra is how many floors the program may take on top of over, if that
	// is what is promised.
	extra float64
}

func bench(runs int, only string, cc bool) error {
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
	var compared []row
	if cc {
		more, version, err := besides(tmp, rows)
		if err != nil {
			return err
		}
		compared = more
		fmt.Printf("ccstatusline %s\n", version)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\tinput\tmedian ms\tfloor ms\tx floor\tpeak MiB\tover\tits ms\tx\tplus\tbudget\t")
	rows = slices.DeleteFunc(rows, func(r row) bool { return !strings.HasPrefix(r.name, only) })
	for _, r := range append(rows, compared...) {
		if _, err := exec.LookPath(r.argv[0]); err != nil {
			continue
		}
		m, err := compare(runs, r, []string{floor}, env)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		program, input, _ := strings.Cut(r.name, ": ")
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.2f\t%.2f\t%.1f\t", program, input, ms(m.program), ms(m.floor), m.ratio, m.peak)
		budget := r.budget
		if r.over == nil {
			fmt.Fprint(w, "\t\t\t\t")
		} else {
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%+.2f floors\t", strings.TrimSuffix(filepath.Base(r.over[0]), ".js"), ms(m.over), m.overRatio, m.plus)
		}
		if r.extra > 0 {
			bound := ms(m.over) + r.extra*ms(m.floor)
			budget = fmt.Sprintf("%s = %.2f ms: %s", r.budget, bound, verdict(m.plus <= r.extra))
		}
		fmt.Fprintf(w, "%s\t\n", budget)
	}
	return w.Flush()
}

func verdict(ok bool) string {
	if ok {
		return "kept"
	}
	return "MISSED"
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
	built, bin := filepath.Join(tmp, "built"), filepath.Join(tmp, "bin")
	for _, args := range [][]string{
		{"-o", filepath.Join(built, "floor"), filepath.Join(src, "main.go")},
		{"-o", built + string(filepath.Separator), "./cmd/..."},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return filepath.Join(bin, "floor"), install(built, bin)
}

// install writes the programs anew, as an installation does: a file as the linker
// left it starts slower than one that was written in a piece.
func install(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), data, 0o755); err != nil {
			return err
		}
	}
	return nil
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
		{name: "agent-guard: npm build", argv: []string{bin("agent-guard")}, stdin: call("npm run build && cat package.json"), budget: "1.5 x"},
		{name: "agent-guard: git commit", argv: []string{bin("agent-guard")}, stdin: call("git commit -m 'fix: typo'")},
		{name: "agent-guard: 100 KiB command", argv: []string{bin("agent-guard")}, stdin: call(strings.Repeat("true; ", 100<<10/6)), budget: "30 ms"},
		{name: "status-line: no repository", argv: []string{bin("status-line")}, stdin: line(home), dir: home, budget: "3 x floor"},
		{name: "status-line: 5,000 files", argv: []string{bin("status-line")}, stdin: line(small), dir: small, over: status, extra: 3, budget: "git status + 3 floors"},
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

// besides installs ccstatusline and returns the rows that compare it with
// status-line where that runs.
func besides(tmp string, rows []row) (more []row, version string, err error) {
	dir := filepath.Join(tmp, "npm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", err
	}
	cmd := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "ccstatusline")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("npm install ccstatusline: %w\n%s", err, out)
	}
	module := filepath.Join(dir, "node_modules", "ccstatusline")
	var pkg struct{ Version string }
	data, err := os.ReadFile(filepath.Join(module, "package.json"))
	if err == nil {
		err = json.Unmarshal(data, &pkg)
	}
	if err != nil {
		return nil, "", err
	}
	for _, r := range rows {
		if program, input, _ := strings.Cut(r.name, ": "); program == "status-line" {
			more = append(more, row{
				name: "ccstatusline: " + input, argv: []string{"node", filepath.Join(module, "dist", "ccstatusline.js")},
				stdin: r.stdin, dir: r.dir, over: r.argv, budget: "for comparison",
			})
		}
	}
	return more, pkg.Version, nil
}

type measurement struct {
	program, floor, over time.Duration
	ratio, overRatio     float64 // over the floor, and over the other program
	plus                 float64 // what the program takes more than the other, in floors
	peak                 float64
}

// compare runs the program, the floor, and what it is measured over in turn.
func compare(runs int, r row, floor, env []string) (measurement, error) {
	var m measurement
	var a, f, o []time.Duration
	var ratios, overRatios, more []float64
	for i := range runs + 2 {
		ta, peak, err := once(r.argv, r.stdin, r.dir, env)
		if err != nil {
			return m, err
		}
		tf, _, err := once(floor, r.stdin, r.dir, env)
		if err != nil {
			return m, err
		}
		var to time.Duration
		if r.over != nil {
			if to, _, err = once(r.over, r.stdin, r.dir, env); err != nil {
				return m, err
			}
		}
		if i < 2 {
			continue // warm-up
		}
		a, f, o = append(a, ta), append(f, tf), append(o, to)
		ratios = append(ratios, float64(ta)/float64(tf))
		if r.over != nil {
			overRatios = append(overRatios, float64(ta)/float64(to))
			more = append(more, float64(ta-to))
		}
		m.peak = max(m.peak, peak)
	}
	m.program, m.floor, m.over, m.ratio = median(a), median(f), median(o), median(ratios)
	if r.over != nil {
		m.overRatio, m.plus = median(overRatios), median(more)/float64(m.floor)
	}
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
