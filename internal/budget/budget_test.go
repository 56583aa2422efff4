// Package budget holds the limits on what starting a program may cost: the
// packages it links, the size of its file, and the time its packages take to
// initialise. Every shell call of every session pays for them.
package budget

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the dependency lists in testdata")

const mib = 1 << 20

// programs are the commands that a client or git starts by itself. A row a program:
// the stripped size it may have, and what it is fed to measure its start.
var programs = []struct {
	name string
	size int64
}{
	{"bypass-warn", 4 * mib},
	{"error-hint", 4 * mib},
	{"status-line", 8 * mib},
	{"agent-guard", 8 * mib},
	{"git-hook", 3 * mib},
}

// initBudget is the sum over all packages, and startRatio the wall time over a
// static program that reads stdin and exits.
const initBudget = 800 * time.Microsecond

// heavy are packages that no hook may link, with the reason.
var heavy = map[string]string{
	"net/http":                      "a hook talks to nobody",
	"crypto/tls":                    "a hook talks to nobody",
	"html/template":                 "initialises tables at start",
	"github.com/go-git/go-git/v5":   "1.1 ms and 4.8 MB on every start",
	"github.com/mattn/go-runewidth": "20 to 40 ms at start in some versions",
	"go.starlark.net/starlark":      "a language that few guards are written in, which has a program of its own",
	"charm.land/bubbletea/v2":       "a framework for one screen, which has a program of its own",
}

func TestDependencies(t *testing.T) {
	lookAtSources(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			out := goRun(t, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "sallyport/cmd/"+p.name)
			all := strings.Fields(goRun(t, "list", "-deps", "sallyport/cmd/"+p.name))
			for pkg, why := range heavy {
				if slices.Contains(all, pkg) {
					t.Errorf("%s links %s: %s", p.name, pkg, why)
				}
			}
			got := strings.Join(slices.Sorted(slices.Values(strings.Fields(out))), "\n") + "\n"
			golden := filepath.Join("testdata", p.name+".deps")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
				t.Errorf("%s links other packages than %s says.\ngot:\n%swant:\n%s\nIf each new one is worth its cost at every start, run go test ./internal/budget -update.", p.name, golden, got, want)
			}
		})
	}
}

func TestSize(t *testing.T) {
	bin := build(t)
	for _, p := range programs {
		fi, err := os.Stat(filepath.Join(bin, p.name+exe()))
		if err != nil {
			t.Fatal(err)
		}
		if fi.Size() > p.size {
			t.Errorf("%s has %d bytes stripped, budget %d", p.name, fi.Size(), p.size)
		}
	}
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

func TestInit(t *testing.T) {
	bin := build(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			best, slowest := time.Hour, ""
			for range 20 {
				cmd := exec.Command(filepath.Join(bin, p.name+exe()))
				cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+t.TempDir())
				var stderr strings.Builder
				cmd.Stderr = &stderr
				_ = cmd.Run()
				sum, worst, name := time.Duration(0), time.Duration(0), ""
				for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
					ms, err := strconv.ParseFloat(m[2], 64)
					if err != nil {
						t.Fatalf("inittrace line %q", m[0])
					}
					d := time.Duration(ms * float64(time.Millisecond))
					if sum += d; d > worst {
						worst, name = d, m[1]
					}
				}
				if sum == 0 {
					t.Fatalf("no inittrace in %q", stderr.String())
				}
				if sum < best {
					best, slowest = sum, name
				}
			}
			if best > initBudget {
				t.Errorf("%s spends %v in package initialisation (most in %s), budget %v", p.name, best, slowest, initBudget)
			}
		})
	}
}

// lookAtSources keeps go test from taking the answer for older sources out of its
// cache: what the tests start is no part of its key, the files that they look at
// are.
func lookAtSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && e.Name() != ".." || e.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go" || e.Name() == "go.mod":
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "budget-")
	if err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", dir + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "sallyport/cmd/"+p.name)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, &buildError{string(out), err}
	}
	return dir, nil
})

type buildError struct {
	out string
	err error
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + e.out }

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if dir, _ := buildOnce(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	dir, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func goRun(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
