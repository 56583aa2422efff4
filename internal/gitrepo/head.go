package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sallyport/internal/gitdir"
	"sallyport/internal/regularfile"
)

// ErrUnknownFormat is returned where git's files do not hold the answer in a
// form that is known, as with the reftable format, whose HEAD file is a stub.
// The caller must not guess.
var ErrUnknownFormat = errors.New("repository format not understood")

// maxRefFile bounds HEAD and the files of an operation; a ref name has at most
// a few hundred bytes.
const maxRefFile = 16 << 10

// ReadHead reads what is checked out from the HEAD file. Hash is filled in for
// a detached head only.
func ReadHead(repo gitdir.Repo) (Head, error) {
	// A ref store that is not made of files says so in the configuration, and
	// its HEAD file may hold anything.
	if configContains(repo, "refstorage") {
		return Head{}, ErrUnknownFormat
	}
	path := filepath.Join(repo.GitDir, "HEAD")
	// Until 2006 HEAD was a symbolic link, and git still reads it.
	if target, err := os.Readlink(path); err == nil {
		if !strings.HasPrefix(target, "refs/") {
			return Head{}, ErrUnknownFormat
		}
		return parseHead("ref: " + target)
	}
	text, err := readRefFile(path)
	if err != nil {
		return Head{}, err
	}
	return parseHead(text)
}

func parseHead(text string) (Head, error) {
	text = strings.TrimRight(text, " \t\r\n")
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		ref = strings.TrimLeft(ref, " \t")
		if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && branch != "" && branch[0] != '.' && !strings.ContainsAny(branch, "\n\x00") {
			return Head{Branch: branch}, nil
		}
		// "refs/heads/.invalid" is the stub that reftable leaves.
		return Head{}, ErrUnknownFormat
	}
	if isHash(text) {
		return Head{Hash: text, Detached: true}, nil
	}
	return Head{}, ErrUnknownFormat
}

// isHash accepts SHA-1 and SHA-256 object names.
func isHash(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// InProgress tells which operation is under way from the files that git leaves
// in the git dir of the work tree. A rebase that stopped in a merge is a
// rebase.
func InProgress(repo gitdir.Repo) Operation {
	in := func(elem ...string) string { return filepath.Join(append([]string{repo.GitDir}, elem...)...) }
	number := func(path string) int {
		text, _ := readRefFile(path)
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 0 || n > 1e6 {
			return 0
		}
		return n
	}
	branch := func(path string) string {
		text, _ := readRefFile(path)
		name, _ := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "refs/heads/")
		if name == "detached HEAD" || isHash(name) {
			return ""
		}
		return name
	}
	switch {
	case exists(in("rebase-merge")):
		return Operation{
			Name: "rebase", Branch: branch(in("rebase-merge", "head-name")),
			Step: number(in("rebase-merge", "msgnum")), Steps: number(in("rebase-merge", "end")),
		}
	case exists(in("rebase-apply")):
		op := Operation{
			Name: "rebase", Branch: branch(in("rebase-apply", "head-name")),
			Step: number(in("rebase-apply", "next")), Steps: number(in("rebase-apply", "last")),
		}
		if exists(in("rebase-apply", "applying")) {
			op.Name = "am"
		}
		return op
	case exists(in("MERGE_HEAD")):
		return Operation{Name: "merge"}
	case exists(in("CHERRY_PICK_HEAD")):
		return Operation{Name: "cherry-pick"}
	case exists(in("REVERT_HEAD")):
		return Operation{Name: "revert"}
	}
	// Between two picks of a series the HEAD files are gone, the list is not.
	if todo, err := readRefFile(in("sequencer", "todo")); err == nil {
		switch verb, _, _ := strings.Cut(todo, " "); verb {
		case "pick", "p":
			return Operation{Name: "cherry-pick"}
		case "revert":
			return Operation{Name: "revert"}
		}
	}
	if exists(in("BISECT_LOG")) {
		return Operation{Name: "bisect", Branch: branch(in("BISECT_START"))}
	}
	return Operation{}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readRefFile reads the beginning of a regular file.
func readRefFile(path string) (string, error) {
	data, err := regularfile.Read(path, maxRefFile)
	return string(data), err
}
