package statusline

import (
	"time"

	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
	"sallyport/settings"
)

// A Sample is a made-up session for a person to look at.
type Sample struct {
	Title   string
	Width   int // 0 for as wide as the terminal
	Session Session
}

// SamplePullRequest is the index of the sample that shows the most.
const SamplePullRequest = 6

// Samples are one session of every kind that a line can show.
func Samples() []Sample {
	clean := Git{Head: gitrepo.Head{Branch: "main"}, Known: true}
	base := Session{
		Sandbox: settings.SandboxOn,
		Folder:  Folder{Source: "magpie"},
		Git:     clean,
		Model:   "Opus 5",
		Context: Context{Known: true, Percent: 42},
		Cost:    Cost{Known: true, USD: 1.27, Duration: 47 * time.Minute, Added: 156, Removed: 23},
		Limits:  Limits{FiveHour: Limit{Known: true, Percent: 31}, SevenDay: Limit{Known: true, Percent: 74}},
		Effort:  "medium", Style: "Explanatory", Agent: "reviewer", Name: "walkthrough", Version: "2.1.332",
		Now: time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC),
	}
	with := func(change func(*Session)) Session {
		s := base
		change(&s)
		return s
	}
	pullRequest := pr.PR{Number: 1211, Title: "Add the walkthrough step", URL: "https://github.com/acme/magpie/pull/1211", Review: "approved"}
	working := Git{
		Head: gitrepo.Head{Branch: "feat/status-line"}, Known: true,
		Changes: gitrepo.Changes{Dirty: true, Upstream: "origin/feat/status-line", Ahead: 2},
	}
	return []Sample{
		{Title: "sandboxed", Session: base},
		{Title: "sandboxed, and commands run without asking", Session: with(func(s *Session) {
			s.Sandbox = settings.SandboxOnAuto
			s.Git = Git{Head: gitrepo.Head{Branch: "main"}, Known: true, Changes: gitrepo.Changes{Behind: 3}}
		})},
		{Title: "no sandbox", Session: with(func(s *Session) { s.Sandbox = settings.SandboxOff })},
		{Title: "no sandbox, no permission prompts", Session: with(func(s *Session) {
			s.Sandbox, s.NoPrompts = settings.SandboxOff, true
		})},
		{Title: "switched on, but this machine cannot start it", Session: with(func(s *Session) { s.Sandbox = settings.SandboxCannotStart })},
		{Title: "a settings file cannot be read", Session: with(func(s *Session) { s.Sandbox = settings.SandboxUnknown })},
		{Title: "local changes, two commits ahead, a pull request", Session: with(func(s *Session) {
			s.Git, s.PR = working, pullRequest
		})},
		{Title: "linked worktree", Session: with(func(s *Session) {
			s.Folder.Worktree = "gh-156021"
			s.Git = Git{Head: gitrepo.Head{Branch: "fix/gh-156021"}, Known: true}
		})},
		{Title: "detached in the middle of a rebase", Session: with(func(s *Session) {
			s.Git = Git{
				Head:      gitrepo.Head{Hash: "b2ec102d0c5e6c0f4a5f7f0f1f3a8b9c7d6e5f40", Detached: true},
				Operation: gitrepo.Operation{Name: "rebase", Branch: "topic", Step: 2, Steps: 5}, Known: true,
				Changes: gitrepo.Changes{Dirty: true},
			}
		})},
		{Title: "git was too slow: the last known state", Session: with(func(s *Session) {
			s.Git = working
			s.Git.Stale = true
		})},
		{Title: "narrow terminal", Width: 48, Session: with(func(s *Session) {
			s.Git, s.PR = working, pullRequest
		})},
	}
}
