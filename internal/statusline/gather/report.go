package gather

import (
	"context"
	"time"

	"sallyport/internal/gitdir"
	"sallyport/internal/gitrepo"
	"sallyport/internal/pr"
)

// A Report is what a person may want to know of how git and pull request got
// onto the line, or why they did not.
type Report struct {
	Dir   string // what folder, git and pull request are about
	Repo  gitdir.Repo
	Found bool

	Asked bool // git was asked; it is not where there is no work tree
	Took  time.Duration
	Err   error

	PR      pr.Answer // last answer of gh
	PRAsked time.Time // zero if there is none
}

// Describe looks at the repository as Gather does, but waits for git up to
// limit.
func Describe(ctx context.Context, req Request, limit time.Duration) Report {
	r := Report{Dir: req.Payload.current(req.Dir)}
	if r.Dir == "" {
		return r
	}
	if r.Repo, r.Found = gitdir.Find(r.Dir, req.Getenv); !r.Found {
		return r
	}
	head, headErr := gitrepo.ReadHead(r.Repo)
	if r.Asked = hasFiles(r.Repo, req.Getenv); r.Asked {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		start := time.Now()
		var fromGit gitrepo.Head
		fromGit, _, r.Err = gitrepo.Status(ctx, r.Repo, req.Environ, req.Getenv)
		r.Took = time.Since(start)
		if headErr != nil && r.Err == nil {
			head = fromGit
		}
	}
	if head.Branch != "" {
		if written, ok := Store(req.Getenv).Get(pr.Key(r.Repo.CommonDir, head.Branch), &r.PR); ok {
			r.PRAsked = written
		}
	}
	return r
}
