package statusline

import (
	"strconv"

	"sallyport/internal/pr"
	"sallyport/internal/term"
)

// maxTitle is the width of a pull request's title, in columns.
const maxTitle = 55

var prSegment = Segment{
	Name: "pr",
	Doc:  "pull request of the branch, with its title",
	draw: func(s *Session, l *Layout, _ string) []span {
		if s.PR.Number <= 0 {
			return nil
		}
		mark := "#"
		if s.PR.Kind == "mr" {
			mark = "!"
		}
		link := pr.SafeURL(s.PR.URL)
		spans := []span{{text: l.Symbols.PR + mark + strconv.FormatInt(s.PR.Number, 10), role: reviewRole(s.PR.Review), link: link}}
		if title := term.Truncate(term.Clean(s.PR.Title, 4*maxTitle), maxTitle, "…"); title != "" {
			spans = append(spans, span{text: " " + title, role: RolePRTitle, link: link, flex: true})
		}
		return spans
	},
}

func reviewRole(state string) Role {
	switch state {
	case "approved":
		return RolePRApproved
	case "changes_requested":
		return RolePRChangesRequested
	case "pending":
		return RolePRPending
	case "draft":
		return RolePRDraft
	}
	return RolePR
}
