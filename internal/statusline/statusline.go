// Package statusline draws the status line of a session: a plain [Session] and
// a [Layout] in, text out. It reads nothing and starts nothing; package gather
// fills the Session.
//
// Every text in a Session may be hostile and is cleaned here, at the last
// point before a terminal.
package statusline

import (
	"time"

	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
	"sallyport/settings"
)

// A Session is all that a line can show. What is not known has its zero value
// and is not drawn.
type Session struct {
	Sandbox   settings.SandboxState
	NoPrompts bool
	Folder    Folder
	Git       Git
	PR        pr.PR // drawn if Number is positive
	Model     string

	Context  Context
	Cost     Cost
	Limits   Limits
	Effort   string
	Style    string // output style
	Agent    string
	Name     string // of the session
	Version  string // of the client
	Now      time.Time
	Commands map[string]string // output of exec segments by command
}

// A Folder is the name of a work tree. Worktree is empty outside linked work
// trees.
type Folder struct {
	Source   string
	Worktree string
}

// A Git is the state of a work tree. Known is set when Changes hold; Stale is
// set when they are not of this moment, or missing.
type Git struct {
	Head      gitrepo.Head
	Operation gitrepo.Operation
	Known     bool
	Changes   gitrepo.Changes
	Stale     bool
}

// A Context is the use of the model's context window, in percent.
type Context struct {
	Known   bool
	Percent float64
}

// A Cost is what the session spent so far.
type Cost struct {
	Known    bool
	USD      float64
	Duration time.Duration
	Added    int64 // lines
	Removed  int64
}

// A Limit is the use of a rate limit, in percent.
type Limit struct {
	Known    bool
	Percent  float64
	ResetsAt time.Time
}

// Limits are the rate limits of a subscription.
type Limits struct {
	FiveHour Limit
	SevenDay Limit
}

// A Layout is how a person wants the line to look.
type Layout struct {
	Lines     [][]Entry
	Separator string
	Width     int // columns; 0 for no bound
	Depth     Depth
	Links     bool
	Theme     Theme
	Symbols   Symbols
}

// An Entry places a segment. Arg is what follows the colon of "text:" and
// "exec:".
type Entry struct {
	Segment string
	Arg     string
}

// DefaultEntries are the segments of a line that nobody configured.
func DefaultEntries() []Entry {
	return []Entry{{Segment: "sandbox"}, {Segment: "folder"}, {Segment: "git"}, {Segment: "pr"}, {Segment: "model"}}
}

// DefaultLayout is the layout that nobody configured.
func DefaultLayout() Layout {
	return Layout{
		Lines:     [][]Entry{DefaultEntries()},
		Separator: " | ",
		Depth:     Colors256,
		Links:     true,
		Theme:     themeDefault,
		Symbols:   symbolsASCII,
	}
}
