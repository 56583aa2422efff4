package program

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func isPath(name string) bool { return strings.ContainsAny(name, `/\:`) }

// spellings are path with each extension that Windows tries.
func (s Search) spellings(path string) []string {
	exts := s.PathExt
	if exts == "" {
		exts = ".COM;.EXE;.BAT;.CMD"
	}
	var all []string
	own := filepath.Ext(path)
	for ext := range strings.SplitSeq(exts, ";") {
		if ext == "" {
			continue
		}
		if own != "" && strings.EqualFold(own, ext) {
			return []string{path}
		}
		all = append(all, path+strings.ToLower(ext))
	}
	return all
}

func executable(_ string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeIrregular == 0 {
		return errors.New("it is not a regular file")
	}
	return nil
}

// Exec starts the program at path as a child with this process's terminal,
// waits for it and returns its exit code. Windows cannot replace a process.
// Ctrl-C and Ctrl-Break reach the child, which shares the console, and are
// ignored here so that the child alone decides what they mean.
func Exec(path string, argv, env []string) (int, error) {
	cmd := &exec.Cmd{Path: path, Args: argv, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	signal.Ignore(os.Interrupt)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, &NotExecutableError{path, plainReason(err)}
	}
	return 0, nil
}
