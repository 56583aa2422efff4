// Package gather finds out what a status line shows: from the client's
// payload, the settings, git's files, git itself and the caches, all at the
// same time and under one deadline.
//
// What is not there at the deadline is left out or comes from the cache, and a
// detached process renews the cache for the next line (see [Refresh]).
package gather

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sallyport/internal/cache"
	"sallyport/internal/childproc"
	"sallyport/internal/dirs"
	"sallyport/internal/gitdir"
	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
	"sallyport/internal/statusline"
	"sallyport/settings"
)

// settingsLimit is how long the line waits for the settings. They decide the
// one word that may not be wrong, so it is longer than the budget; a file
// system that does not answer in this time makes the state unknown.
const settingsLimit = time.Second

// reserve is the part of the budget that stays for starting, killing what is
// late, starting its successor, and drawing: 4 ms on an idle machine with two
// cores, 10 to 15 ms on a busy one.
const reserve = 15 * time.Millisecond

// killGrace is how long the line waits at the deadline for its programs to be
// gone.
const killGrace = 30 * time.Millisecond

// startGrace is how long it waits for a background process to have started.
const startGrace = 50 * time.Millisecond

// A Request is what a line is to show, and of which session.
type Request struct {
	Payload Payload
	Environ []string
	Getenv  func(string) string
	Dir     string // working directory of the process, may be empty
	Self    string // path of this program, to be started with "refresh"
	Now     time.Time

	Budget time.Duration // how long to wait for git and commands
	Wants  func(segment string) bool
	// Commands are those of exec segments; a result is taken for current for
	// CommandTTL, and a run is killed after CommandLimit.
	Commands     []string
	CommandTTL   time.Duration
	CommandLimit time.Duration
	// Debugf logs what went wrong; it is not nil.
	Debugf func(format string, args ...any)
}

// Store is where the status line keeps what it may forget.
func Store(getenv func(string) string) cache.Store {
	dir := dirs.Cache(getenv)
	if dir == "" {
		return cache.Store{}
	}
	return cache.Store{Dir: filepath.Join(dir, "status-line")}
}

// Settings loads the settings of the session that the payload is about.
func Settings(req Request) (*settings.Stack, settings.Session) {
	env := settings.OSEnv(req.Getenv)
	session := settings.HookSession(env, req.Payload.Start(), req.Dir, req.Payload.Version)
	return settings.Load(session, env), session
}

// A collector takes in results until it is closed.
type collector struct {
	mu      sync.Mutex
	session statusline.Session
	git     gitResult
}

// A gitResult is what is known of the repository so far.
type gitResult struct {
	repo    gitdir.Repo
	found   bool
	head    gitrepo.Head
	headErr error
	op      gitrepo.Operation
	cached  cachedStatus
	inCache bool
	status  cachedStatus
	err     error
	files   bool // there is a work tree that can differ
	asked   bool // git was started
	done    bool // and has answered, or failed
}

// A cachedStatus is git's last answer for a work tree.
type cachedStatus struct {
	Head    gitrepo.Head    `json:"head"`
	Changes gitrepo.Changes `json:"changes"`
}

func (c *collector) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Gather fills in a session. It returns at the deadline at the latest, even if
// a file system does not answer.
func Gather(ctx context.Context, req Request) statusline.Session {
	p := req.Payload
	current := p.current(req.Dir)
	c := &collector{session: statusline.Session{
		Sandbox: settings.SandboxUnknown,
		Folder:  statusline.FolderOf(current, gitdir.Repo{}, false),
		Model:   p.Model, PR: p.PR,
		Context: p.Context, Cost: p.Cost, Limits: p.Limits, Effort: p.Effort, Style: p.Style,
		Agent: p.Agent, Name: p.Name, Version: p.Version, Now: req.Now,
		Commands: make(map[string]string),
	}}
	store := Store(req.Getenv)
	ctx, cancel := context.WithTimeout(ctx, max(req.Budget-reserve, req.Budget/2))
	defer cancel()

	settled := make(chan struct{})
	go guard(settled, func() {
		stack, _ := Settings(req)
		state := stack.Sandbox().State
		promptsOff, _ := stack.PromptsOff()
		c.update(func() { c.session.Sandbox, c.session.NoPrompts = state, promptsOff })
	})
	var parts []chan struct{}
	start := func(f func()) {
		ch := make(chan struct{})
		parts = append(parts, ch)
		go guard(ch, f)
	}
	if current != "" && (req.Wants("folder") || req.Wants("git") || req.Wants("pr")) {
		start(func() { c.repository(ctx, req, store, current) })
	}
	for _, command := range req.Commands {
		start(func() {
			out := runCached(ctx, req, store, command, current)
			c.update(func() { c.session.Commands[command] = out })
		})
	}
	await(ctx, parts...)
	// Programs are killed at the deadline, with their children. Ending before
	// that is done would leave some of them behind.
	if ctx.Err() != nil {
		awaitFor(killGrace, parts...)
	}
	awaitFor(settingsLimit, settled)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.Git = c.git.draw()
	if c.git.late() && !errors.Is(context.Cause(ctx), context.Canceled) {
		root, key := c.git.repo.Root, gitKey(c.git.repo)
		started := make(chan struct{})
		go guard(started, func() {
			startRefresh(req, store, key, func() bool {
				written, ok := store.Get(key, &cachedStatus{})
				return ok && recent(req.Now, written, gitRefreshInterval)
			}, root, "git")
		})
		// On a file system that does not answer not even a start comes back.
		awaitFor(startGrace, started)
	}
	return copySession(c.session)
}

// await waits until all channels are closed or ctx ends.
func await(ctx context.Context, channels ...chan struct{}) {
	for _, ch := range channels {
		select {
		case <-ch:
		case <-ctx.Done():
		}
	}
}

func awaitFor(limit time.Duration, channels ...chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	await(ctx, channels...)
}

func copySession(s statusline.Session) statusline.Session {
	commands := make(map[string]string, len(s.Commands))
	for k, v := range s.Commands {
		commands[k] = v
	}
	s.Commands = commands
	return s
}

// guard runs f and closes ch; a panic costs f's part of the line only.
func guard(ch chan struct{}, f func()) {
	defer close(ch)
	defer func() { _ = recover() }()
	f()
}

// repository finds out about the repository that holds dir.
func (c *collector) repository(ctx context.Context, req Request, store cache.Store, dir string) {
	repo, ok := gitdir.Find(dir, req.Getenv)
	if !ok {
		return
	}
	c.update(func() {
		c.git.repo, c.git.found = repo, true
		c.session.Folder = statusline.FolderOf(dir, repo, true)
	})
	if !req.Wants("git") && !req.Wants("pr") {
		return
	}
	var asked chan struct{}
	files := hasFiles(repo, req.Getenv)
	c.update(func() { c.git.files = files })
	if files && req.Wants("git") {
		asked = make(chan struct{})
		c.update(func() { c.git.asked = true })
		go guard(asked, func() {
			head, changes, err := gitrepo.Status(ctx, repo, req.Environ, req.Getenv)
			c.update(func() { c.git.status, c.git.err, c.git.done = cachedStatus{head, changes}, err, true })
		})
	}
	head, headErr := gitrepo.ReadHead(repo)
	op := gitrepo.InProgress(repo)
	var cached cachedStatus
	inCache := false
	if asked != nil {
		_, inCache = store.Get(gitKey(repo), &cached)
	}
	c.update(func() {
		c.git.head, c.git.headErr, c.git.op = head, headErr, op
		c.git.cached, c.git.inCache = cached, inCache
	})
	if headErr == nil {
		c.pullRequest(req, store, repo, head.Branch)
	}
	if asked == nil {
		return
	}
	<-asked
	var status cachedStatus
	var err error
	c.update(func() { status, err = c.git.status, c.git.err })
	if err != nil {
		req.Debugf("git status in %s: %v", repo.Root, err)
		return
	}
	if !inCache || status != cached {
		if err := store.Put(gitKey(repo), status); err != nil {
			req.Debugf("cache: %v", err)
		}
	}
	if headErr != nil {
		c.pullRequest(req, store, repo, status.Head.Branch)
	}
}

// hasFiles reports whether there is a work tree at all. The main checkout of a
// bare repository has none, in the layout project/.git too, unless the
// environment names one.
func hasFiles(repo gitdir.Repo, getenv func(string) string) bool {
	return repo.Root != "" && (!repo.Bare || repo.Linked || getenv("GIT_WORK_TREE") != "")
}

// pullRequest completes what the payload says about the branch's pull request
// from the cache, and has the cache renewed when it is time.
func (c *collector) pullRequest(req Request, store cache.Store, repo gitdir.Repo, branch string) {
	if branch == "" || !hasFiles(repo, req.Getenv) || !req.Wants("pr") {
		return
	}
	given := req.Payload.PR
	// The client knows a merge request whole but for its title, which gh
	// cannot ask for.
	if given.Kind == "mr" || given.Number > 0 && given.Title != "" {
		return
	}
	key := pr.Key(repo.CommonDir, branch)
	answer, fresh := pr.Cached(store, key, given.Number, req.Now)
	if answer.Number > 0 && (given.Number <= 0 || given.Number == answer.Number) {
		c.update(func() {
			c.session.PR.Number = answer.Number
			c.session.PR.Title = answer.Title
			if c.session.PR.URL == "" {
				c.session.PR.URL = answer.URL
			}
		})
	}
	if fresh || !gitrepo.HasRemote(repo) || strings.Contains(strings.ToLower(req.Payload.RepoHost), "gitlab") {
		return
	}
	if _, ok := childproc.LookPath("gh", req.Getenv); !ok {
		return
	}
	startRefresh(req, store, key, func() bool {
		_, fresh := pr.Cached(store, key, given.Number, req.Now)
		return fresh
	}, repo.Root, "pr", branch)
}

// draw is the git segment that the results so far allow.
func (g gitResult) draw() statusline.Git {
	switch {
	case !g.found:
		return statusline.Git{}
	case g.done && g.err == nil:
		return statusline.Git{Head: g.status.Head, Operation: g.op, Known: true, Changes: g.status.Changes}
	case !g.files:
		return statusline.Git{Head: g.head}
	}
	git := statusline.Git{Head: g.head, Operation: g.op, Stale: true}
	if g.head == (gitrepo.Head{}) && g.inCache {
		git.Head = g.cached.Head
	}
	if g.inCache && sameHead(git.Head, g.cached.Head) {
		git.Known, git.Changes = true, g.cached.Changes
	}
	return git
}

// sameHead compares branches by name: their hash is not read from files.
func sameHead(a, b gitrepo.Head) bool {
	return a.Branch == b.Branch && a.Detached == b.Detached && (!a.Detached || a.Hash == b.Hash)
}

// late reports whether git did not answer in time, as opposed to not at all.
func (g gitResult) late() bool {
	return g.asked && (!g.done || errors.Is(g.err, context.DeadlineExceeded))
}

func gitKey(repo gitdir.Repo) string { return cache.Key("git", repo.GitDir) }

func recent(now, written time.Time, interval time.Duration) bool {
	age := now.Sub(written)
	return age < interval && age > -interval
}

// An output is what a command of an exec segment printed.
type output struct {
	Text string `json:"text"`
}

func execKey(command, dir string) string { return cache.Key("exec", command, dir) }

// runCached is the output of a command, from the cache if that is recent. A
// command that takes longer than the line may wait goes on by itself, and the
// next line shows what it printed.
func runCached(ctx context.Context, req Request, store cache.Store, command, dir string) string {
	key := execKey(command, dir)
	var out output
	isFresh := func() bool {
		written, ok := store.Get(key, &out)
		return ok && recent(req.Now, written, req.CommandTTL)
	}
	if isFresh() {
		return out.Text
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	done := startRefresh(req, store, key, isFresh, dir, "exec", req.CommandLimit.String(), command)
	if done == nil {
		return out.Text
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	store.Get(key, &out)
	return out.Text
}
