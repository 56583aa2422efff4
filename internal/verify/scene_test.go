package verify

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sallyport/internal/projectroot"
	"sallyport/internal/setup"
	"sallyport/internal/testenv"
	"sallyport/settings"
)

// A scene is an account on which everything is as it should be: the suite
// installed, a project with the recommended settings, and small programs in
// place of the client, the sandbox's programs and gh.
type scene struct {
	t                                 *testing.T
	root, home, bin, project, managed string
	environ                           []string
	goos                              string
	live                              bool
}

// stage is where every scene stands in its turn: settings hold absolute paths,
// so a scene that is made once must come back to where it was made. pristine is
// its untouched copy.
var stage, pristine string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "verify")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stage = filepath.Join(dir, "stage")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// newScene sets the stage anew. Tests of this package do not run in parallel.
func newScene(t *testing.T) *scene {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of these tests are shell scripts")
	}
	testenv.Isolate(t)
	s := &scene{t: t, root: stage, goos: "linux"}
	s.home, s.bin, s.project, s.managed = filepath.Join(stage, "home"), filepath.Join(stage, "bin"), filepath.Join(stage, "home", "project"), filepath.Join(stage, "managed")
	s.environ = []string{"HOME=" + s.home, "PATH=" + s.bin, "SHELL=" + filepath.Join(s.bin, "bash"), "GIT_CONFIG_NOSYSTEM=1", "SALLYPORT_NOW=2026-10-01T12:00:00Z"}
	if pristine == "" {
		s.build()
		pristine = stage + ".pristine"
		s.copy(stage, pristine)
		return s
	}
	s.remove(stage)
	s.copy(pristine, stage)
	return s
}

func (s *scene) copy(from, to string) {
	s.t.Helper()
	if out, err := exec.Command("cp", "-Rp", from, to).CombinedOutput(); err != nil {
		s.t.Fatalf("cp: %v\n%s", err, out)
	}
}

func (s *scene) build() {
	t, root := s.t, s.root
	t.Helper()
	for _, dir := range []string{s.home, s.bin, s.project, s.managed, filepath.Join(root, "source")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"git", "sh", "bash"} {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skip(name + " is not installed")
		}
		if err := os.Symlink(file, filepath.Join(s.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.program("claude", "echo '2.1.332 (Claude Code)'")
	s.program("bwrap", "echo 'bubblewrap 0.13.0'")
	s.program("socat", "echo 'socat by Gerhard Rieger and contributors'; echo 'socat version 1.8.1.3 on 26 Jun 2026'")
	s.program("gh", "exit 0")
	for _, name := range setup.Programs() {
		text := "#!/bin/sh\n[ \"$1\" = --version ] && { echo " + name + " v1; exit; }\necho '[sandbox] project'\n"
		testenv.Write(t, filepath.Join(root, "source", name), text)
		if err := os.Chmod(filepath.Join(root, "source", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Write(t, filepath.Join(s.home, ".bash_profile"), ". ~/.bashrc\n")
	testenv.Git(t, s.project, "init", "-q")
	var out bytes.Buffer
	o := setup.Options{Environ: s.environ, Dir: s.project, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Yes: true}
	if err := setup.Install(setup.InstallOptions{Options: o, Source: filepath.Join(root, "source")}); err != nil {
		t.Fatalf("install: %v\n%s", err, out.String())
	}
	out.Reset()
	local := func(dir string, client func() string) (edits []setup.LocalEdit, warnings []string) {
		report := projectroot.Run(projectroot.Options{Dir: dir, Environ: s.environ, AllWorktrees: true, DryRun: true, Ignored: dir, Managed: s.managed, ClientVersion: client})
		for _, f := range report.Files {
			edits = append(edits, setup.LocalEdit{Path: f.Target, Existed: f.Existed, Old: f.Old, New: f.New})
		}
		return edits, warnings
	}
	if err := setup.Project(setup.ProjectOptions{Options: o, Local: local}); err != nil {
		t.Fatalf("project: %v\n%s", err, out.String())
	}
}

func (s *scene) program(name, script string) {
	s.t.Helper()
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.bin, name)
	}
	testenv.Write(s.t, file, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(file, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// edit changes a settings file; the file starts as an empty object.
func (s *scene) edit(file string, changes ...settings.Change) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	after, err := settings.Apply(data, changes...)
	if err != nil {
		s.t.Fatal(err)
	}
	testenv.Write(s.t, file, string(after))
}

func (s *scene) projectFile() string { return filepath.Join(s.project, ".claude", "settings.json") }
func (s *scene) localFile() string   { return filepath.Join(s.project, ".claude", "settings.local.json") }
func (s *scene) userFile() string    { return filepath.Join(s.home, ".claude", "settings.json") }
func (s *scene) managedFile() string { return filepath.Join(s.managed, "managed-settings.json") }
func (s *scene) script(name string) string {
	return filepath.Join(s.home, ".claude", "scripts", name)
}

// drop takes an entry out of a list.
func (s *scene) drop(file, list, entry string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	doc, err := settings.ParseDocument(data)
	if err != nil {
		s.t.Fatal(err)
	}
	keys := strings.Split(list, ".")
	i, at := 0, -1
	doc.Root().Get(keys...).Each(func(_ string, v settings.Node) bool {
		if text, _ := v.Text(); text == entry {
			at = i
		}
		i++
		return true
	})
	if at < 0 {
		s.t.Fatalf("%s has no %s %q", file, list, entry)
	}
	s.edit(file, settings.Delete(append(keys, fmt.Sprint(at))...))
}

func (s *scene) replace(file, old, new string) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		s.t.Fatalf("%s does not hold %q", file, old)
	}
	info, _ := os.Stat(file)
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(data), old, new)), info.Mode()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) remove(file string) {
	s.t.Helper()
	if err := os.RemoveAll(file); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) chmod(file string, mode os.FileMode) {
	s.t.Helper()
	if err := os.Chmod(file, mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) setenv(name, value string) { s.environ = append(s.environ, name+"="+value) }

func (s *scene) machine() *Machine {
	s.t.Helper()
	m, err := NewMachine(Options{Environ: s.environ, Dir: s.project, Live: s.live, GOOS: s.goos, Managed: s.managed})
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *scene) check(id string) Result {
	s.t.Helper()
	r := Run(s.machine(), id)
	if len(r.Results) != 1 {
		s.t.Fatalf("check %s gave %d results", id, len(r.Results))
	}
	return r.Results[0]
}

func describe(res Result) string {
	var b bytes.Buffer
	r := Report{Results: []Result{res}}
	r.WriteText(&b, false, false, func(s string) string { return s })
	return b.String()
}

// git runs git in the project with the account's environment.
func (s *scene) git(args ...string) { s.t.Helper(); testenv.Git(s.t, s.project, args...) }

// wholeUser sets up the shared hook directory.
func (s *scene) wholeUser(flavour string) {
	s.t.Helper()
	var out bytes.Buffer
	o := setup.Options{Environ: s.environ, Dir: s.project, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Yes: true}
	if err := setup.WholeUser(setup.ScopeOptions{Options: o, Flavour: flavour, NoRC: true}); err != nil {
		s.t.Fatalf("scope: %v\n%s", err, out.String())
	}
}
