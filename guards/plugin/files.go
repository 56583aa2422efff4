package plugin

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"sallyport/internal/trust"
)

// readDir reads the regular files of a guard directory, sorted by name. ok is
// false when there is no such directory.
//
// In a directory that a repository brings (foreign) every file counts, because
// a guard may read its neighbours, and no symbolic link is followed; a file
// that cannot be read whole is a problem, with which nothing there is trusted.
// Elsewhere only guard files are read, and links are a person's own.
func readDir(dir string, foreign bool) (files []trust.File, problems []Problem, ok bool) {
	problem := func(path, text string) { problems = append(problems, Problem{path, text}) }
	if foreign {
		for _, p := range [...]string{filepath.Dir(dir), dir} {
			if fi, err := os.Lstat(p); err == nil && fi.Mode()&os.ModeSymlink != 0 {
				problem(p, "is a symbolic link, which is not followed in a repository")
				return nil, problems, true
			}
		}
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil && !os.IsNotExist(err) && !isNotDir(err):
		problem(dir, "cannot be read")
		return nil, problems, true
	case err != nil || !fi.IsDir():
		return nil, nil, false
	case writableByAll(fi.Mode()):
		problem(dir, everyone)
		return nil, problems, true
	}
	d, err := os.Open(dir)
	if err != nil {
		problem(dir, "cannot be read")
		return nil, problems, true
	}
	defer d.Close()
	names, err := d.Readdirnames(4 * maxFiles)
	if err != nil && err != io.EOF {
		problem(dir, "cannot be read")
		return nil, problems, true
	}
	slices.Sort(names)
	total := 0
	for _, name := range names {
		path := filepath.Join(dir, name)
		if _, isGuard := kindOf(name); !isGuard && !foreign {
			continue
		}
		if len(files) == maxFiles {
			problem(dir, "holds more than "+strconv.Itoa(maxFiles)+" files; the rest is not read")
			break
		}
		data, text := readFile(path, foreign)
		if text != "" {
			problem(path, text)
			continue
		}
		if total += len(data); total > maxDir {
			problem(dir, "holds more than "+strconv.Itoa(maxDir>>20)+" MiB; the rest is not read")
			break
		}
		files = append(files, trust.File{Name: name, Data: data})
	}
	return files, problems, true
}

// readFile reads a regular file of at most maxFile bytes, or says what is wrong
// with it. It never waits: what is no regular file is not read.
func readFile(path string, foreign bool) (data []byte, problem string) {
	if foreign {
		fi, err := os.Lstat(path)
		switch {
		case err != nil:
			return nil, "cannot be read"
		case fi.Mode()&os.ModeSymlink != 0:
			return nil, "is a symbolic link, which is not followed in a repository"
		case !fi.Mode().IsRegular():
			return nil, "is no regular file"
		}
	}
	return readRegular(path, foreign)
}

const everyone = "is writable by everyone; chmod o-w it"

var tooLarge = "is larger than " + strconv.Itoa(maxFile>>10) + " KiB"

// ReadForeign reads a directory of a repository as [Load] would, for a person
// to look at. ok is false when there is no such directory.
func ReadForeign(dir string) (files []trust.File, problems []Problem, ok bool) {
	return readDir(dir, true)
}

// ReadForeignFile reads one file of a repository. ok is false when there is
// none.
func ReadForeignFile(path string) (data []byte, problem string, ok bool) {
	if _, err := os.Lstat(path); err != nil {
		return nil, "", false
	}
	data, problem = readFile(path, true)
	return data, problem, true
}

// HasGuards reports whether a guard is among the files.
func HasGuards(files []trust.File) bool {
	for _, f := range files {
		if _, ok := kindOf(f.Name); ok {
			return true
		}
	}
	return false
}
