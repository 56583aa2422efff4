package lint

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

var harnessRules = []check[struct{}]{
	{Rule: Rule{ID: "H801", Severity: Error, Hard: true,
		Summary: "the clean environment (layer 0) is missing",
		Why:     "an agent that is started without it inherits the credentials in the shell's environment",
		Example: "a directory without bin/agent-iso",
		Fix:     "install agent-iso and start agents through it"}},
	{Rule: Rule{ID: "H802", Severity: Error, Hard: true,
		Summary: "the action guard (layer 3) is missing",
		Why:     "nothing looks at a command before it runs",
		Example: "a directory without bin/agent-guard",
		Fix:     "install agent-guard and wire it into the harness"}},
	{Rule: Rule{ID: "H803", Severity: Info, Hard: true,
		Summary: "both components are there",
		Why:     "presence is no proof that a harness is wired to them",
		Example: "a directory with bin/agent-iso and bin/agent-guard",
		Fix:     "run agent-setup verify in each harness"}},
}

// A component is a layer that every harness shares, and where it may stand.
type component struct {
	id, layer, exposed string
	paths              []string // the first one has to be executable
}

var components = []component{
	{"H801", "layer-0 clean environment", "credentials in the environment reach every agent",
		[]string{"bin/agent-iso", "tools/agent-isolation/agent-iso", "tools/agent-isolation/agent-iso.sh"}},
	{"H802", "layer-3 action guard", "commands run ungated",
		[]string{"bin/agent-guard", "tools/agent-guard/agent-guard", "tools/agent-guard/src/agent_guard/__init__.py"}},
}

// AnyHarness checks that the components which do not depend on the harness are
// there. An empty root is looked for from the working directory upwards.
func AnyHarness(cfg Config, root string) *Report {
	r := newRun(cfg, "any-harness")
	if root == "" {
		root = findHarnessRoot(cfg.Dir)
	}
	r.rank(root)
	dir := r.resolve(root)
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		why := "not a directory"
		if err != nil {
			why = reason(err)
		}
		r.in("P001", root, "cannot be read: "+why, "name a directory")
		return r.done()
	}
	complete := true
	for _, c := range components {
		if !c.present(dir) {
			complete = false
			r.in(c.id, root, fmt.Sprintf("%s is missing: none of %s is there; %s", c.layer, strings.Join(c.paths, ", "), c.exposed), "")
		}
	}
	if complete {
		r.in("H803", root, "both components are there; that is no proof that a harness is wired to them", "")
	}
	return r.done()
}

func (c component) present(root string) bool {
	for i, p := range c.paths {
		names := []string{p}
		if runtime.GOOS == "windows" && i == 0 {
			names = append(names, p+".exe")
		}
		for _, name := range names {
			fi, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
			if err == nil && fi.Mode().IsRegular() && (i > 0 || executable(fi)) {
				return true
			}
		}
	}
	return false
}

func executable(fi fs.FileInfo) bool { return runtime.GOOS == "windows" || fi.Mode().Perm()&0o111 != 0 }

func findHarnessRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		for _, below := range []string{"", ".sallyport", ".apache-magpie"} {
			root := filepath.Join(d, below)
			if fi, err := os.Stat(filepath.Join(root, "tools", "agent-isolation")); err == nil && fi.IsDir() {
				return root
			}
		}
		if filepath.Dir(d) == d {
			return dir
		}
	}
}
