package agentguard

import (
	"os"
	"path/filepath"
	"strings"

	"sallyport/guards"
	"sallyport/guards/plugin"
	"sallyport/hookio"
	"sallyport/internal/cli"
	"sallyport/internal/gitdir"
	"sallyport/internal/repostate"
	"sallyport/internal/shellcmd"
)

// A Loader returns the guards of a run, in order: the product's, then those
// that files add. dir is where the command starts.
type Loader func(p *cli.Process, dir string) []*guards.Guard

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
	all    []*guards.Guard
	config *Config
	world  *repostate.World

	plugins *plugin.Set
}

// newSession prepares a run that judges commands of dir. Its caller closes it.
func newSession(p *cli.Process, opt *Options, dir string) *session {
	s := &session{p: p, opt: opt, dir: dir}
	if s.dir == "" {
		s.dir = p.Dir()
	}
	load := opt.Load
	if load == nil {
		load = Bundled
	}
	s.all = load(p, s.dir)
	s.addPlugins()
	s.config = LoadConfig(p.Getenv, configRoot(s.dir, p.Getenv), s.all, trusted(p))
	s.settlePlugins()
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
	s.plugins.NextLine()
	in := &guards.Input{
		Command: command, Dialect: dialect, Dir: s.dir,
		Getenv:     s.p.LookupEnv,
		Options:    s.config.Options,
		Levels:     s.config.Levels,
		Unattended: s.opt.Unattended || s.config.Unattended,
		Inline:     s.config.Inline,
		Self:       ownPrograms(),
	}
	if project := s.p.Getenv("CLAUDE_PROJECT_DIR"); filepath.IsAbs(project) && inside(s.dir, project) {
		// The project stays what the session began with while it is below it.
		in.Project = project
	}
	return in
}

// configRoot is the root of the work tree that holds dir, if it has a
// configuration file. Most have none, and then nothing but its absence is
// looked at.
func configRoot(dir string, getenv func(string) string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(RepositoryFile(d)); err == nil {
			if repo, ok := gitdir.Find(dir, getenv); ok {
				return repo.Root
			}
			return ""
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
