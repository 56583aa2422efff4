package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sallyport/internal/atomicfile"
)

// Init makes the configuration and an empty list of shell rules in a directory.
// It reports what it did, a line each. Files that exist are kept unless force
// replaces them, after a backup. rules is the content of the shell rules, nil for
// empty ones.
func Init(r *Request, rules []byte) (lines []string, err error) {
	dir := filepath.Dir(r.Config)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if rules == nil {
		rules = indentJSON(object{{"deny", []string{}}, {"ask", []string{}}, {"allow", []string{}}})
	}
	for _, f := range []struct {
		path string
		text []byte
	}{{r.Config, []byte(minimalConfig())}, {filepath.Join(dir, "bash-rules.json"), rules}} {
		old, err := readFile(f.path)
		switch {
		case err == nil && !r.Force:
			lines = append(lines, "Exists, skipping: "+f.path)
			continue
		case err == nil:
			backup, err := makeBackup(f.path, old, 0o600, r.now())
			if err != nil {
				return lines, err
			}
			lines = append(lines, "Backup: "+backup)
		case !errors.Is(err, fs.ErrNotExist):
			return lines, err
		}
		if err := atomicfile.Write(f.path, f.text, 0o600); err != nil {
			return lines, err
		}
		if old != nil {
			lines = append(lines, "Updated: "+f.path)
		} else {
			lines = append(lines, "Created: "+f.path)
		}
	}
	return lines, nil
}

// A SourceFile is a file that a person edits.
type SourceFile struct {
	Name string `json:"name"` // srt, bash or config
	Path string `json:"path"`
}

// Sources lists what a person edits.
func Sources(r *Request) ([]SourceFile, error) {
	cfg, err := loadConfig(r.Env, r.Config, false)
	if err != nil {
		// Its own file can be mended all the same.
		return []SourceFile{{"config", r.Env.expand(r.Config, r.Env.Dir)}}, err
	}
	return []SourceFile{{"srt", cfg.SRT}, {"bash", cfg.BashRules}, {"config", cfg.Path}}, nil
}

// Validate reads configuration and sources and returns what is wrong.
func Validate(r *Request) []Problem {
	return r.load().n.problems
}

// LoadConfig reads the configuration.
func LoadConfig(r *Request) (*Config, error) { return loadConfig(r.Env, r.Config, r.Named) }

// An AgentInfo is one line of the list of agents.
type AgentInfo struct {
	Agent   string `json:"agent"`
	Enabled bool   `json:"enabled"`
	Target  string `json:"target,omitempty"`
	Note    string `json:"note,omitempty"`
}

// ListAgents shows every agent with its targets.
func ListAgents(r *Request) ([]AgentInfo, error) {
	cfg, err := LoadConfig(r)
	if err != nil {
		return nil, err
	}
	targets := map[Agent]string{Claude: cfg.ClaudeSettings, Copilot: cfg.CopilotOutput, Codex: cfg.CodexConfig, CopilotSandbox: cfg.CopilotSettings, Gemini: cfg.GeminiPolicy, OpenCode: cfg.OpenCodeConfig, Kiro: cfg.KiroAgent}
	var out []AgentInfo
	for _, a := range Agents() {
		info := AgentInfo{Agent: string(a), Enabled: slices.Contains(cfg.Enabled, a), Target: targets[a]}
		switch {
		case a == Copilot && info.Target == "":
			info.Note = "stdout"
		case info.Target == "":
			info.Note = "no target set"
		}
		out = append(out, info)
	}
	return out, nil
}

// A Reverted file is one step of a revert.
type Reverted struct {
	Agent   string   `json:"agent"`
	Target  string   `json:"target"`
	Action  string   `json:"action"` // restored, removed, none
	Backup  string   `json:"backup,omitempty"`
	Saved   string   `json:"saved,omitempty"` // a copy of hand edits that the revert takes away
	Backups []string `json:"backups"`
}

// Revert puts back what stood in the targets before the last generate that found
// someone else's text there; a file that was made from nothing is removed. With
// list it only shows what there is.
func Revert(r *Request, list bool) (out []Reverted, problems []Problem) {
	var n notes
	cfg, err := LoadConfig(r)
	if err != nil {
		n.fail(errConfig, err)
		return nil, n.problems
	}
	state := loadState(r.statePath())
	c := &compiler{cfg: cfg, env: r.Env, yolo: r.Yolo, n: &n}
	agents := []Agent{r.Agent}
	if r.Agent == "" {
		agents = slices.DeleteFunc(Agents(), func(a Agent) bool { return !slices.Contains(cfg.Enabled, a) })
	}
	type step struct {
		Reverted
		real string
	}
	var steps []step
	for _, a := range agents {
		var paths []string
		switch a {
		case Claude:
			target, _, _, err := c.claudeTarget()
			if err != nil {
				n.fail(errConfig, err)
				continue
			}
			paths = []string{target}
		case Copilot:
			paths = []string{cfg.CopilotOutput}
			if r.Yolo {
				paths = []string{cfg.CopilotOutputYolo}
			}
		case Codex:
			paths = []string{cfg.CodexConfig, cfg.CodexRules}
		case CopilotSandbox:
			paths = []string{cfg.CopilotSettings}
		case Gemini:
			paths = []string{cfg.GeminiPolicy}
		case OpenCode:
			paths = []string{cfg.OpenCodeConfig}
		case Kiro:
			paths = []string{cfg.KiroAgent}
		}
		for _, path := range paths {
			if path == "" {
				continue
			}
			real, exists, err := resolve(path)
			if err != nil {
				n.fail(errTarget, err)
				continue
			}
			s := step{Reverted{Agent: string(a), Target: path, Action: "none", Backups: backupsOf(real)}, real}
			if a == Claude && len(s.Backups) == 0 {
				// A file that moved here left its backup under its old name.
				s.Backups = backupsOf(filepath.Join(filepath.Dir(path), "settings.json"))
			}
			f := state.Files[real]
			switch {
			case f != nil && f.Created && len(s.Backups) == 0 && exists:
				s.Action = "removed"
			case len(s.Backups) > 0:
				s.Action, s.Backup = "restored", s.Backups[len(s.Backups)-1]
			}
			if s.Backups == nil {
				s.Backups = []string{}
			}
			steps = append(steps, s)
		}
	}
	for i := range steps {
		s := &steps[i]
		if !list && len(n.problems) == 0 {
			if err := s.save(s.real, state.Files[s.real], r.now()); err != nil {
				n.fail(errWrite, err)
			} else if err := s.undo(s.real); err != nil {
				n.fail(errWrite, err)
			} else if s.Action != "none" {
				delete(state.Files, s.real)
			}
		}
		out = append(out, s.Reverted)
	}
	if !list {
		if r.Agent != "" && len(n.problems) == 0 && !slices.ContainsFunc(out, func(s Reverted) bool { return s.Action != "none" }) {
			n.problem("NOTHING-TO-REVERT", "%s: there is no backup, and the target was not made by agent-policy", r.Agent)
		}
		if err := state.save(); err != nil {
			n.fail(errWrite, err)
		}
	}
	return out, n.problems
}

// save keeps what stands in a file if it is not what was written last.
func (s *Reverted) save(real string, f *fileState, now time.Time) error {
	data, err := readFile(real)
	if s.Action == "none" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if f != nil && f.SHA256 == hash(data) {
		return nil
	}
	if s.Backup != "" {
		if old, err := readFile(s.Backup); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	name := real + ".agent-policy." + now.UTC().Format(stamp) + ".reverted"
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	s.Saved = name
	return errors.Join(err, out.Sync(), out.Close())
}

func (s Reverted) undo(real string) error {
	switch s.Action {
	case "removed":
		if a, err := newAnchor(s.Target); err == nil && s.Agent == string(Claude) && a.is {
			if err := os.Remove(a.path); err != nil {
				return err
			}
		}
		return os.Remove(real)
	case "restored":
		unlock, err := lockFiles([]string{real})
		if err != nil {
			return err
		}
		defer unlock()
		data, err := readFile(s.Backup)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if fi, err := os.Stat(s.Backup); err == nil {
			mode = fi.Mode().Perm()
		}
		return replaceFile(real, data, mode)
	}
	return nil
}

// Editor is the command that opens a file for a person.
func Editor(getenv func(string) string) ([]string, error) {
	line := getenv("VISUAL")
	if line == "" {
		line = getenv("EDITOR")
	}
	if line == "" {
		line = "vi"
	}
	words, err := splitWords(line)
	if err != nil {
		return nil, fmt.Errorf("VISUAL or EDITOR %q: %w", line, err)
	}
	var argv []string
	for _, w := range words {
		argv = append(argv, w.Text)
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, fmt.Errorf("VISUAL or EDITOR %q names no program", line)
	}
	return argv, nil
}

// ReadFile reads a file that a person names, of bounded size.
func ReadFile(path string) ([]byte, error) { return readFile(path) }
