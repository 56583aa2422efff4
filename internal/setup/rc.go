package setup

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The two lines that delimit the block in a shell's start file.
const (
	blockBegin = "# >>> sallyport >>>"
	blockEnd   = "# <<< sallyport <<<"
)

// A shellKind is a family of shells that reads the same block.
type shellKind string

const (
	shellPOSIX shellKind = "posix" // bash and zsh
	shellFish  shellKind = "fish"
)

// startFile picks the file that an interactive shell reads, by $SHELL. ok is
// false for a shell whose start file is not known.
func startFile(getenv func(string) string, home string, exists func(string) bool) (file string, kind shellKind, ok bool) {
	switch baseName(getenv("SHELL")) {
	case "bash":
		if profile := filepath.Join(home, ".bash_profile"); runtime.GOOS == "darwin" && exists(profile) {
			return profile, shellPOSIX, true
		}
		return filepath.Join(home, ".bashrc"), shellPOSIX, true
	case "zsh":
		dir := getenv("ZDOTDIR")
		if !filepath.IsAbs(dir) {
			dir = home
		}
		return filepath.Join(dir, ".zshrc"), shellPOSIX, true
	case "fish":
		dir := getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, ".config")
		}
		return filepath.Join(dir, "fish", "conf.d", "sallyport.fish"), shellFish, true
	}
	return "", "", false
}

// shellKindOf tells the family from the name of a start file.
func shellKindOf(file string) shellKind {
	if strings.HasSuffix(file, ".fish") {
		return shellFish
	}
	return shellPOSIX
}

// block is the text between and including the markers. The directory goes to
// the end of PATH, so that it never hides a program the person already has;
// the directory of shims, whose purpose that is, to its beginning. Either may
// be empty.
func block(kind shellKind, dir, shims, home string, alias bool) string {
	lines := []string{blockBegin}
	add := func(dir, posix, fish string) {
		if dir == "" {
			return
		}
		word := doubleQuoted(dir, home)
		if kind == shellFish {
			lines = append(lines,
				"if not contains -- "+word+" $PATH",
				"    set -gx PATH "+strings.ReplaceAll(fish, "DIR", word),
				"end")
			return
		}
		lines = append(lines,
			`case ":$PATH:" in`,
			"*:"+word+":*) ;;",
			"*) PATH="+strings.ReplaceAll(posix, "DIR", word)+"; export PATH ;;",
			"esac")
	}
	add(dir, `"$PATH":DIR`, "$PATH DIR")
	add(shims, `DIR:"$PATH"`, "DIR $PATH")
	if alias {
		lines = append(lines, "alias claude=claude-iso")
	}
	return strings.Join(append(lines, blockEnd), "\n") + "\n"
}

// doubleQuoted is a path as a word of bash, zsh and fish alike, relative to
// $HOME where it is under it.
func doubleQuoted(path, home string) string {
	prefix := ""
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, "/")+"/"); ok {
		prefix, path = "$HOME/", rest
	}
	return `"` + prefix + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(path) + `"`
}

// A span is where the block stands in a text, as byte offsets.
type span struct{ start, end int }

// findBlock looks for the block. A marker without its partner is an error with
// a line number: what lies between cannot be told.
func findBlock(file, text string) (at span, ok bool, err error) {
	offset, line, begin, beginLine := 0, 0, -1, 0
	found := false
	for offset < len(text) {
		line++
		end := len(text)
		if n := strings.IndexByte(text[offset:], '\n'); n >= 0 {
			end = offset + n + 1
		}
		switch strings.TrimRight(text[offset:end], " \t\r\n") {
		case blockBegin:
			if begin >= 0 || found {
				return at, false, brokenBlock(file, line, blockBegin, "a second begin")
			}
			begin, beginLine = offset, line
		case blockEnd:
			if begin < 0 {
				return at, false, brokenBlock(file, line, blockEnd, "no begin before it")
			}
			at, found, begin = span{begin, end}, true, -1
		}
		offset = end
	}
	if begin >= 0 {
		return at, false, brokenBlock(file, beginLine, blockBegin, "no end after it")
	}
	return at, found, nil
}

func brokenBlock(file string, line int, marker, what string) error {
	return conflict(file+":"+itoa(line), "", "%q has %s; repair the block by hand, or pass --no-rc", marker, what)
}

// putBlock returns text with the block in place: where one stands it is
// replaced, else it goes to the end.
func putBlock(file, text, block string) (string, error) {
	at, ok, err := findBlock(file, text)
	if err != nil {
		return "", err
	}
	if ok {
		return text[:at.start] + block + text[at.end:], nil
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + block, nil
}

// dropBlock returns text without the block.
func dropBlock(file, text string) (string, error) {
	at, ok, err := findBlock(file, text)
	if err != nil || !ok {
		return text, err
	}
	return text[:at.start] + text[at.end:], nil
}

// otherLauncher is the line number at which a start file reads another
// toolkit's launcher, 0 if nowhere.
func otherLauncher(text string) int {
	for i, line := range strings.Split(text, "\n") {
		words, _, _ := splitShell(strings.TrimSpace(line))
		if slices.ContainsFunc(words, func(w string) bool {
			return baseName(w) == "agent-iso.sh" || baseName(w) == "claude-iso.sh"
		}) {
			return i + 1
		}
	}
	return 0
}
