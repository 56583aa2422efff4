package statusline

import (
	"path/filepath"
	"strings"

	"sallyport/internal/gitdir"
	"sallyport/internal/term"
)

var folderSegment = Segment{
	Name: "folder",
	Doc:  "name of the work tree, <source>/<worktree> in a linked one",
	draw: func(s *Session, l *Layout, _ string) []span {
		source, worktree := term.Clean(s.Folder.Source, maxName), term.Clean(s.Folder.Worktree, maxName)
		if source == "" {
			return nil
		}
		var spans []span
		if l.Symbols.Folder != "" {
			spans = append(spans, span{text: l.Symbols.Folder, role: RolePlain})
		}
		spans = append(spans, span{text: source, role: RoleFolder, hash: s.Folder.Source, flex: true})
		if worktree != "" {
			spans = append(spans,
				span{text: "/", role: RolePlain},
				span{text: worktree, role: RoleFolder, hash: s.Folder.Worktree, flex: true})
		}
		return spans
	},
}

// maxName bounds names, in characters, where no width is known.
const maxName = 80

// FolderOf names the work tree that holds dir; inRepo tells whether repo is
// one.
func FolderOf(dir string, repo gitdir.Repo, inRepo bool) Folder {
	if !inRepo || repo.Root == "" {
		return Folder{Source: base(dir)}
	}
	name := base(repo.Root)
	if !repo.Linked {
		return Folder{Source: name}
	}
	source := sourceName(repo)
	if source == "" {
		return Folder{Source: name}
	}
	return Folder{Source: source, Worktree: withoutPrefix(name, source)}
}

// sourceName names what a linked work tree belongs to.
func sourceName(repo gitdir.Repo) string {
	if repo.Main != "" {
		return base(repo.Main)
	}
	name := strings.TrimSuffix(base(repo.CommonDir), ".git")
	// In the layout project/.bare or project/.git the directory above names
	// the project.
	if name == "" || name[0] == '.' {
		return base(filepath.Dir(repo.CommonDir))
	}
	return name
}

// withoutPrefix drops a repeated source name, as in "cpython.gh-156021".
func withoutPrefix(name, source string) string {
	rest, ok := strings.CutPrefix(name, source)
	if ok && len(rest) > 1 && strings.ContainsRune("._-", rune(rest[0])) {
		return rest[1:]
	}
	return name
}

func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
