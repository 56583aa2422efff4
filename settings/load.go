package settings

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sallyport/internal/regularfile"
	"slices"
	"strings"
)

// A Stack is the settings in force for one session.
type Stack struct {
	session Session
	env     Env
	flags   flags
	start   string // absolute
	// config is where the project and local files stand: start, or what the
	// application that started the client named instead.
	config   string
	files    []File
	layers   []layer // strongest first
	problems []Problem
	notes    []string
	// server is the cache of a policy kept on a server, which counts above all
	// else for some accounts; nil if there is none.
	server *layer
}

// A layer is one file whose values count.
type layer struct {
	Scope Scope
	path  string
	doc   *Document
	rank  int // index of its file in Stack.files
	// only, if not nil, is the test that a key of this layer has to pass.
	only func(path []string) bool
}

// Load finds and reads every settings file for a session. It never fails: a
// missing file is normal, and one that cannot be read or parsed is listed in
// [Stack.Problems].
func Load(s Session, env Env) *Stack {
	env = env.withDefaults()
	st := &Stack{session: s, env: env}
	if s.ArgsSeen {
		st.flags = parseFlags(s.Args)
	}
	st.start = s.Start
	if abs, err := filepath.Abs(s.Start); err == nil {
		st.start = abs
	}
	st.config = st.start
	if root := st.flags.configRoot; filepath.IsAbs(root) {
		st.config = filepath.Clean(root)
	}
	st.managed()
	st.commandLine()
	st.local()
	st.project()
	st.user()
	st.neverRead()
	return st
}

// Files lists every file considered, strongest scope first, those that the
// client does not read among them.
func (s *Stack) Files() []File { return slices.Clone(s.files) }

// Problems lists what is wrong with the files that the client reads.
func (s *Stack) Problems() []Problem { return slices.Clone(s.problems) }

// Session is the session that the stack was loaded for.
func (s *Stack) Session() Session { return s.session }

// UserDir is the client's user directory: CLAUDE_CONFIG_DIR, else ~/.claude;
// empty if neither is known.
func (s *Stack) UserDir() string { return s.env.userDir(s.start) }

func (e Env) userDir(start string) string {
	switch {
	case e.ConfigDir != "" && filepath.IsAbs(e.ConfigDir):
		return filepath.Clean(e.ConfigDir)
	case e.ConfigDir != "":
		return filepath.Join(start, e.ConfigDir)
	case e.Home != "":
		return filepath.Join(e.Home, ".claude")
	}
	return ""
}

// skip lists a file that the client does not read, if it is there.
func (s *Stack) skip(scope Scope, path, reason string) {
	if _, err := os.Lstat(path); err != nil {
		return
	}
	s.files = append(s.files, File{Scope: scope, Path: path, Status: NotRead,
		Reason: "not read by " + s.session.client() + ": " + reason})
}

// read lists a file and, if the client takes it, makes it a layer.
func (s *Stack) read(scope Scope, path string, limit int64, only func([]string) bool) {
	if s.listed(path) {
		return
	}
	data, err := regularfile.Read(path, limit)
	switch {
	case err == nil:
		s.parsed(scope, path, data, only)
	case isMissing(err):
		s.files = append(s.files, File{Scope: scope, Path: path, Status: Missing})
	default:
		// The client cannot read a directory or a pipe either, and goes on
		// without it; what only we may not read can hold anything.
		s.unreadable(scope, path, reason(err), !errors.Is(err, regularfile.ErrNotRegular))
	}
}

func (s *Stack) listed(path string) bool {
	return slices.ContainsFunc(s.files, func(f File) bool { return f.Path == path && f.Status != NotRead })
}

func (s *Stack) unreadable(scope Scope, path, reason string, undecided bool) {
	s.files = append(s.files, File{Scope: scope, Path: path, Status: Unreadable, Reason: reason, undecided: undecided})
	s.problems = append(s.problems, Problem{Source{Scope: scope, Path: path}, "cannot be read: " + reason})
}

func reason(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func (s *Stack) parsed(scope Scope, path string, data []byte, only func([]string) bool) {
	file := File{Scope: scope, Path: path, Status: Read}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))) == 0 {
		file.Reason = "empty"
		s.files = append(s.files, file)
		return
	}
	doc, err := ParseDocument(data)
	if err != nil {
		e := err.(*SyntaxError)
		file.Status, file.Reason = Invalid, "dropped whole: not JSON: "+e.Error()
		file.undecided = strings.HasPrefix(e.Message, "nested more than")
		s.problems = append(s.problems, Problem{Source{scope, path, e.Line, e.Column}, "not JSON, the client drops the whole file: " + e.Message})
		s.files = append(s.files, file)
		return
	}
	if fault, ok := validate(doc); ok {
		line, column := fault.at.Position()
		at := Source{scope, path, line, column}
		switch scope {
		case Managed:
			// Here the client enforces the rest of the file.
			s.problems = append(s.problems, Problem{at, fault.message + "; the client drops this value or puts the strictest in its place"})
		case CommandLine:
			// It does not start with such a value, so it has found it good.
			s.problems = append(s.problems, Problem{at, fault.message + " (as far as is known)"})
		default:
			s.problems = append(s.problems, Problem{at, fault.message + "; the client drops the whole file"})
			file.Status = Invalid
			file.Reason = fmt.Sprintf("dropped whole: line %d, column %d: %s", line, column, fault.message)
			s.files = append(s.files, file)
			return
		}
	}
	if line, column, ok := doc.Repeated(); ok {
		s.problems = append(s.problems, Problem{Source{scope, path, line, column}, "a member of this name stands here twice, the last one counts"})
	}
	s.layers = append(s.layers, layer{scope, path, doc, len(s.files), only})
	s.files = append(s.files, file)
}

const managedFile, managedDir = "managed-settings.json", "managed-settings.d"

// managed reads the administrator's sources. The first one that delivers a
// policy key counts; of the others only a fixed set of keys does, unless the
// first asks for a merge.
func (s *Stack) managed() {
	delivered := ""
	merge := false
	var only func([]string) bool
	// source notes, after each source, whether it delivered policy.
	source := func(name string, from int) {
		if delivered != "" {
			return
		}
		for _, l := range s.layers[from:] {
			l.doc.Root().Each(func(key string, _ Node) bool {
				if key != "$schema" {
					delivered = name
				}
				return delivered == ""
			})
			if text, _ := l.doc.Root().Get("managedSourcesBehavior").Text(); text == "merge" {
				merge = s.session.AtLeast("2.1.270")
			}
		}
		if delivered != "" && !merge {
			only = func(path []string) bool { return admittedFromEverySource(path) }
		}
	}
	lower := func() string {
		if delivered == "" || merge {
			return ""
		}
		return "only " + delivered + " counts, apart from a few keys that every managed source may set"
	}

	policies := s.env.Policies()
	policy := func(p Policy) {
		from, at := len(s.layers), len(s.files)
		switch {
		case p.Err != nil:
			s.unreadable(Managed, p.Name, p.Err.Error(), true)
		default:
			note := lower()
			s.parsed(Managed, p.Name, p.JSON, only)
			if note != "" && s.files[at].Status == Read {
				s.files[at].Reason = note
			}
		}
		source(p.Name, from)
	}
	for _, p := range policies {
		if !p.Weak {
			policy(p)
		}
	}
	if s.env.ManagedDir != "" {
		from := len(s.layers)
		note := lower()
		for _, path := range managedFiles(s.env.ManagedDir) {
			at := len(s.files)
			s.read(Managed, path, maxFile, only)
			if note != "" && s.files[at].Status == Read {
				s.files[at].Reason = note
			}
		}
		source(filepath.Join(s.env.ManagedDir, managedFile), from)
	}
	for _, p := range policies {
		if p.Weak && delivered == "" {
			policy(p)
		} else if p.Weak {
			s.files = append(s.files, File{Scope: Managed, Path: p.Name, Status: NotRead,
				Reason: "not read by " + s.session.client() + ": " + delivered + " is there"})
		}
	}
	// A server's policy outranks all of these. Its cache counts only for an
	// account of an organisation that has such a policy, which cannot be told
	// from here.
	if dir := s.UserDir(); dir != "" {
		path := filepath.Join(dir, "remote-settings.json")
		if data, err := regularfile.Read(path, maxFile); err == nil {
			if doc, err := ParseDocument(data); err == nil {
				s.server = &layer{Scope: Managed, path: path, doc: doc}
			}
			s.files = append(s.files, File{Scope: Managed, Path: path, Status: NotRead,
				Reason: "the cache of a policy kept on a server: it counts above all else, but only for accounts that have one"})
		}
	}
	if s.flags.hostPolicy {
		s.notes = append(s.notes, "The application that started the client handed it a policy (--managed-settings), which is not looked at here.")
	}
}

// managedFiles lists the base file and its drop-ins, strongest first: later
// names win over earlier ones and over the base.
func managedFiles(dir string) []string {
	files := []string{filepath.Join(dir, managedFile)}
	entries, _ := os.ReadDir(filepath.Join(dir, managedDir)) // sorted by name
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && name[0] != '.' {
			files = append(files, filepath.Join(dir, managedDir, name))
		}
	}
	slices.Reverse(files)
	return files
}

// flagLimit is the client's own bound for a --settings file.
const flagLimit = 2 << 20

func (s *Stack) commandLine() {
	if !s.session.ArgsSeen {
		if s.session.InClient {
			s.notes = append(s.notes, "The client's command line was not seen: --settings and other flags of the session are not counted.")
		}
		return
	}
	value := strings.TrimSpace(s.flags.settings)
	switch {
	case value == "":
	case strings.HasPrefix(value, "{"):
		s.parsed(CommandLine, "--settings", []byte(value), nil)
	default:
		path := s.flags.settings
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.start, path)
		}
		s.read(CommandLine, path, flagLimit, nil)
	}
	for _, flag := range []struct {
		set  bool
		note string
	}{
		{s.flags.safe, "The session was started with --safe-mode: settings count, hooks and the status line run only if managed."},
		{s.flags.bare, "The session was started with --bare: settings count, hooks do not run."},
		{s.flags.restricted, "The session was started with --restricted: user, project and local files are not read."},
	} {
		if flag.set {
			s.notes = append(s.notes, flag.note)
		}
	}
}

const localName, projectName = "settings.local.json", "settings.json"

func inClaude(dir, name string) string { return filepath.Join(dir, ".claude", name) }

func (s *Stack) local() {
	start := realDir(s.config)
	root, candidate, why := localRoot(s.session, s.env, start)
	if s.config != s.start {
		root, why = "", "--project-config-root names the one directory"
	}
	loads, off := s.flags.loads(Local)
	paths := []string{inClaude(s.config, localName)}
	if root != "" && !sameFile(root, start) {
		paths = []string{inClaude(root, localName), paths[0]}
	}
	for _, path := range paths {
		if loads {
			s.read(Local, path, maxFile, nil)
		} else {
			s.skip(Local, path, off)
		}
	}
	if root == "" && candidate != "" && !sameFile(candidate, start) {
		s.skip(Local, inClaude(candidate, localName), why)
	}
	if near := nearestGit(start); near != "" && near != root && near != candidate && !sameFile(near, start) {
		s.skip(Local, inClaude(near, localName), "in a linked worktree the client reads the main checkout's local file and the start directory's")
	}
}

func (s *Stack) project() {
	path := inClaude(s.config, projectName)
	if loads, off := s.flags.loads(Project); !loads {
		s.skip(Project, path, off)
	} else if dir := s.UserDir(); dir == "" || !sameFile(filepath.Join(s.config, ".claude"), dir) {
		// A session started in the home directory has the user file here.
		s.read(Project, path, maxFile, nil)
	}
	if s.config != s.start {
		s.skip(Project, inClaude(s.start, projectName), "the session was started with --project-config-root "+s.config)
	}
	start := realDir(s.config)
	near := nearestGit(start)
	if near == "" {
		return
	}
	const reason = "project settings are read in the start directory only"
	if !sameFile(near, start) {
		s.skip(Project, inClaude(near, projectName), reason)
	}
	if repo, ok := linked(near); ok && repo.Main != "" && !sameFile(repo.Main, start) {
		s.skip(Project, inClaude(repo.Main, projectName), reason)
	}
}

func (s *Stack) user() {
	dir := s.UserDir()
	if dir == "" {
		s.unreadable(User, "~/.claude/settings.json", "the home directory is not known", true)
		return
	}
	path := filepath.Join(dir, "settings.json")
	if loads, off := s.flags.loads(User); !loads {
		s.skip(User, path, off)
		return
	}
	s.read(User, path, maxFile, nil)
}

// neverRead lists the places that guides name and the client passes over.
func (s *Stack) neverRead() {
	dir := s.UserDir()
	if dir == "" {
		return
	}
	if path := filepath.Join(dir, localName); !s.listedSame(path) {
		s.skip(User, path, "there is no user-level local file; it belongs to sessions started in the home directory")
	}
	if s.env.Home == "" {
		return
	}
	if home := filepath.Join(s.env.Home, ".claude"); s.env.ConfigDir != "" && !sameFile(home, dir) {
		s.skip(User, filepath.Join(home, "settings.json"), "CLAUDE_CONFIG_DIR names another directory")
	}
}

func (s *Stack) listedSame(path string) bool {
	return slices.ContainsFunc(s.files, func(f File) bool { return sameFile(f.Path, path) })
}
