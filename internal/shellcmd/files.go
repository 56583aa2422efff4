package shellcmd

import (
	"slices"
	"strings"

	"sallyport/internal/slashpath"
)

const maxVersions = 64 // contents of one file that are kept

// A version is what the line wrote to a file.
type version struct {
	at    int // of walker.writes
	text  string
	from  string // the program that it is a copy of or a link to
	maybe bool   // in a branch: what was there before may still be
	gone  bool
}

// write records that the line gives a file a content.
func (w *walker) write(name, text string, add bool) {
	if add && name != "" {
		old := w.files[name]
		if n := len(old); n > 0 && !old[n-1].gone {
			text = old[n-1].text + text
		} else if n == 0 {
			// What stands before it is not known from the text.
			before := w.mark(Part{Text: name, Kind: Other}) + "\n"
			if data, ok := w.readFS(name); ok {
				before = data
			}
			text = before + text
		}
		if len(text) > maxValue || !w.spend(len(text)/16) {
			text = otherMark
			w.line.Limited = true
		}
	}
	w.put(name, version{text: text})
}

// put adds a version of a file.
func (w *walker) put(name string, v version) {
	if name == "" {
		return
	}
	if w.files == nil {
		w.files = map[string][]version{}
	}
	w.writes++
	v.at, v.maybe = w.writes, w.ctx.maybe
	old := w.files[name]
	if len(old) >= maxVersions {
		old = slices.Clone(old[len(old)-maxVersions/2:])
		old[0].maybe = true
	}
	w.files[name] = append(old, v)
}

// copiedFrom is the program that a file is a copy of or a link to.
func (w *walker) copiedFrom(name string) (string, bool) {
	list := w.files[name]
	for i := len(list) - 1; i >= 0; i-- {
		if v := list[i]; v.from != "" {
			return v.from, true
		} else if !v.maybe {
			break
		}
	}
	return "", false
}

// remove records that a file is deleted.
func (w *walker) remove(name string) {
	if len(w.files[name]) > 0 {
		w.put(name, version{gone: true})
	}
}

// versionsOf are the contents that a file may have at a time, newest first.
func (w *walker) versionsOf(name string, at int) (texts []string, complete bool) {
	list := w.files[name]
	for i := len(list) - 1; i >= 0; i-- {
		v := list[i]
		if v.at > at {
			continue
		}
		if !v.gone {
			texts = append(texts, v.text)
		}
		if !v.maybe {
			return texts, true
		}
		if len(texts) >= maxAlternatives {
			return texts, true
		}
	}
	return texts, false
}

// path makes a name absolute, as far as the directory is known. The directory
// of a marked path is part of it: the same unknown piece is the same place.
func (w *walker) path(sh *shell, name string) string {
	return joinPath(w.dir(sh), name)
}

func joinPath(dir, name string) string {
	if name == "" {
		return ""
	}
	if !isAbs(name) && dir != "" && !startsMarked(name) {
		return slashpath.Join(strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(name, `\`, "/"))
	}
	return slashpath.Clean(strings.ReplaceAll(name, `\`, "/"))
}

// isAbs knows drive letters too: a line may come from Windows.
func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) ||
		len(name) > 2 && name[1] == ':' && (name[2] == '/' || name[2] == '\\')
}

// startsMarked: a path that begins with an unknown piece is taken for absolute,
// so that $TMP/x means the same after a cd.
func startsMarked(name string) bool { return name != "" && name[0] == markLead }

// fileText is what a command reads from a file: written by the line, or
// nothing that is known.
func (w *walker) fileText(sh *shell, name string) (string, bool) {
	if name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0" {
		if sh.in != nil {
			return *sh.in, true
		}
		return "", false
	}
	if name == "/dev/null" {
		return "", true
	}
	texts, _ := w.versionsOf(w.path(sh, name), w.writes)
	if len(texts) == 0 {
		return "", false
	}
	return texts[0], true
}

// scripts are the texts that a file to be run may hold.
func (w *walker) scripts(sh *shell, name string) []string {
	if name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0" || name == "-" {
		if sh.in != nil {
			return []string{*sh.in}
		}
		return nil
	}
	p := w.path(sh, name)
	texts, complete := w.versionsOf(p, w.writes)
	if !complete {
		if text, ok := w.readFS(p); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// readFS reads a script that existed before the line.
func (w *walker) readFS(name string) (string, bool) {
	if w.opt.FS == nil || !isStatic(name) || name == "" || w.ctx.remote || w.ctx.container {
		return "", false
	}
	data, ok := w.opt.FS.ReadFile(name, maxFileBytes)
	if !ok || strings.IndexByte(string(data[:min(len(data), 512)]), 0) >= 0 {
		return "", false // a binary
	}
	text, _ := escapeSource(string(data))
	return text, true
}

// File is the content that the line gives to a file before c runs, and whether
// it gives it one at all: if not, the file is what is on disk. Where branches
// may have written different contents, they follow each other. A name is taken
// relative to c's directory.
func (c *Command) File(name Word) (Text, bool) {
	if c.line == nil || c.line.w == nil || name.raw == "" {
		return Text{}, false
	}
	w := c.line.w
	texts, _ := w.versionsOf(joinPath(c.dir, name.raw), c.seq)
	if len(texts) == 0 {
		return Text{}, false
	}
	return w.text(strings.Join(texts, "\n")), true
}
