package setup

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/term"
)

// configFile is the file that "git config --global" writes.
func (w *world) configFile() (file, root string) {
	if file := w.getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return file, filepath.Dir(file)
	}
	file = filepath.Join(w.home, ".gitconfig")
	if _, err := os.Lstat(file); err == nil {
		return file, ""
	}
	dir := w.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.home, ".config")
	}
	if other := filepath.Join(dir, "git", "config"); regular(other) {
		return other, dir
	}
	return file, ""
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readConfig reads a text that a person edits and that we may write.
func (r *runner) readConfig(file, root string) (doc []byte, existed bool, target string, err error) {
	if target, err = r.w.target(file, root); err != nil {
		return nil, false, "", err
	}
	doc, err = readText(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, target, nil
	}
	if err == nil {
		err = writable(target)
	}
	return doc, true, target, err
}

// editConfig has git itself edit a configuration text.
func (r *runner) editConfig(doc []byte, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "agent-setup-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		return nil, err
	}
	if _, err := r.git(append([]string{"config", "--file", file}, args...)...); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// configValue is what one configuration text says, as it is written there.
func (r *runner) configValue(doc []byte) (value string, set bool, err error) {
	dir, err := os.MkdirTemp("", "agent-setup-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		return "", false, err
	}
	out, err := r.git("config", "--file", file, "-z", "--get", hooksPathKey)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", false, nil
	}
	return strings.TrimSuffix(string(out), "\x00"), err == nil, err
}

// planConfig names the shared directory in git's configuration.
func (s *scoper) planConfig(p *plan, next *manifest, now *hookScope) error {
	file, root := s.w.configFile()
	if now.Config != "" {
		file = now.Config
	}
	before, existed, target, err := s.readConfig(file, root)
	if err != nil {
		return err
	}
	value, set, err := s.configValue(before)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%s: %v", s.w.short(file), err)
	}
	after := before
	reason := hooksPathKey + " = " + s.w.short(now.Dir)
	if !set || value != now.Dir {
		if now.Config == "" && set {
			now.Previous = &value
			reason += ", was " + term.Clean(value, 200)
		}
		if after, err = s.editConfig(before, "--replace-all", hooksPathKey, now.Dir); err != nil {
			return cli.Exitf(cli.ExitInput, "%s: %v", s.w.short(file), err)
		}
	}
	now.Config = file
	next.GitConfig[hooksPathKey] = now.Previous
	// The file may hold secrets, so the one line that changes is all that is shown.
	s.planText(p, next, now, file, target, before, after, existed, "", reason)
	return nil
}
