package agentguard

import (
	"path/filepath"
	"strings"

	"sallyport/guards"
	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/repostate"
	"sallyport/internal/shellcmd"
)

// A Loader returns the guards of a run, in order: the product's, then those
// that files add. root is the work tree whose own guards may count.
type Loader func(p *cli.Process, root string) []*guards.Guard

// Bundled is the Loader of the guards that the product brings.
func Bundled(*cli.Process, string) []*guards.Guard { return guards.Bundled() }

// Options are what the flags of the program say.
type Options struct {
	Harness    *hookio.Harness
	Guards     []string // only these, with their own verdict; nil: what the configuration says
	Unattended bool
	Load       Loader // nil: [Bundled]
}

// A session is one run of the program.
type session struct {
	p      *cli.Process
	opt    *Options
	dir    string
	root   string
	all    []*guards.Guard
	config *Config
	world  *repostate.World
}

// newSession prepares a run that judges commands of dir.
func newSession(p *cli.Process, opt *Options, dir string) *session {
	s := &session{p: p, opt: opt, dir: dir}
	if s.dir == "" {
		s.dir = p.Dir
	}
	if filepath.IsAbs(s.dir) {
		if repo, ok := gitdir.Find(s.dir, p.Getenv); ok {
			s.root = repo.Root
		}
	}
	load := opt.Load
	if load == nil {
		load = Bundled
	}
	s.all = load(p, s.root)
	s.config = LoadConfig(p.Getenv, s.root, s.all, nil)
	for _, problem := range s.config.Problems {
		p.Debugf("configuration: %v", problem)
	}
	if opt.Guards != nil {
		s.only(opt.Guards)
	}
	s.world = repostate.New(p.Environ, p.Debugf)
	return s
}

// only leaves the named guards, switched on with their own verdicts.
func (s *session) only(names []string) {
	var kept []*guards.Guard
	for _, g := range s.all {
		for _, name := range names {
			if g.Name == name {
				on := *g
				on.Off = false
				kept = append(kept, &on)
				break
			}
		}
	}
	s.all = kept
	s.config.Levels = guards.Levels{}
}

// unknownNames are the names in --guards that no guard has.
func (s *session) unknownNames() []string {
	var unknown []string
	for _, name := range s.opt.Guards {
		found := false
		for _, g := range s.all {
			found = found || g.Name == name
		}
		if !found {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func (s *session) input(command string, dialect shellcmd.Dialect) *guards.Input {
	in := &guards.Input{
		Command: command, Dialect: dialect, Dir: s.dir,
		Getenv:     s.p.LookupEnv,
		Options:    s.config.Options,
		Levels:     s.config.Levels,
		Unattended: s.opt.Unattended || s.config.Unattended,
		Inline:     s.config.Inline,
		Self:       ownPrograms(),
	}
	if project := s.p.Getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(project) && !strings.ContainsRune(project, 0) {
		// The project stays what the session began with, wherever it has gone.
		if s.root == "" || !inside(s.dir, project) {
			in.Project = s.root
		} else {
			in.Project = project
		}
	}
	return in
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
