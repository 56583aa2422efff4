// Package iso starts an agent CLI with an environment that holds only what is
// on a list.
//
// [Prepare] decides everything about a start (which variables stay, which file
// is run, with which arguments) and changes nothing; [Plan.Start] then becomes
// the program. What keeps a launcher honest is that the two ways of looking at
// it, doing it and explaining it, share one plan.
package iso

import (
	"os"
	"path/filepath"
	"strings"
)

// Launcher is the launcher's own name. Started by another one, it is a link
// that stands for a CLI; see [LinkedCLI].
const Launcher = "agent-iso"

const linkSuffix = "-iso"

// LinkedCLI returns the program that a link to the launcher stands for, by the
// link's own name: claude for claude-iso, kiro-cli for kiro-iso, and claude for
// a link named claude itself. It is empty for the launcher's own name and for
// any other.
func LinkedCLI(name string) string {
	if name == Launcher {
		return ""
	}
	if cli, ok := strings.CutSuffix(name, linkSuffix); ok && cli != "" {
		if c := canonical(builtin(), cli); c != "" {
			return c
		}
		return cli
	}
	if canonical(builtin(), name) != "" {
		return name
	}
	return ""
}

// canonical is the CLI that a program name stands for, empty if unknown.
func canonical(table []*agentCLI, name string) string {
	if c := findCLI(table, programName(name)); c != nil {
		return c.Name
	}
	return ""
}

// programName is a file's name without the endings that Windows adds.
func programName(path string) string {
	name := filepath.Base(path)
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		if len(name) > len(ext) && strings.EqualFold(name[len(name)-len(ext):], ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

// maxLinks is the number of symbolic links that systems follow in one path.
const maxLinks = 40

// identify returns the CLI that the program at path is, started as name. A
// chain of symbolic links says it best where one of its names is known, the
// last one first: an npm installation links claude to cli.js, a person may
// link ai to claude. It is the program's own name if none is known.
func identify(table []*agentCLI, name, path string) string {
	cli := canonical(table, name)
	for range maxLinks {
		if c := canonical(table, path); c != "" {
			cli = c
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if cli == "" {
		cli = programName(name)
	}
	return cli
}
