package statusline

import (
	"strconv"

	"sallyport/internal/gitrepo"
	"sallyport/internal/term"
)

var gitSegment = Segment{
	Name: "git",
	Doc:  "branch or detached commit, what is in progress, changes, ahead and behind",
	draw: func(s *Session, l *Layout, _ string) []span {
		g, sym := s.Git, l.Symbols
		var spans []span
		add := func(role Role, text string) { spans = append(spans, span{text: text, role: role}) }
		switch {
		case g.Head.Branch != "":
			if sym.Branch != "" {
				add(RolePlain, sym.Branch)
			}
			spans = append(spans, span{text: term.Clean(g.Head.Branch, maxName), role: RoleBranch, flex: true})
		case g.Head.Detached:
			add(RoleBranch, term.Clean(g.Head.Short(), 7)+" (detached)")
		default:
			return nil
		}
		if text := operation(g.Operation); text != "" {
			add(RoleOperation, " "+text)
		}
		if g.Known && g.Changes.Dirty {
			add(RoleDirty, " "+sym.Dirty)
		}
		if g.Known && g.Changes.Ahead > 0 {
			add(RoleAhead, " "+sym.Ahead+strconv.Itoa(g.Changes.Ahead))
		}
		if g.Known && g.Changes.Behind > 0 {
			add(RoleBehind, " "+sym.Behind+strconv.Itoa(g.Changes.Behind))
		}
		if g.Stale {
			add(RoleStale, " "+sym.Stale)
		}
		return spans
	},
}

// operation is what is in progress: "rebase topic 2/5".
func operation(op gitrepo.Operation) string {
	text := op.Name
	if op.Name == "rebase" && op.Branch != "" {
		text += " " + term.Clean(op.Branch, 40)
	}
	if op.Step > 0 && op.Steps >= op.Step {
		text += " " + strconv.Itoa(op.Step) + "/" + strconv.Itoa(op.Steps)
	}
	return text
}
