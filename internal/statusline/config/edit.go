package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/dirs"
	"sallyport/internal/regularfile"
	"sallyport/internal/statusline"
	"sallyport/internal/tomledit"
)

// A setting is one key of the document and where it stands.
type setting struct {
	key        string // dotted, with its table
	table      string
	line       int
	start, end int // of the value
	keyStart   int // -1 inside an inline table: found for messages, not edited
}

// scan finds the keys of a document that go-toml accepts.
func scan(data []byte) (settings []setting, err error) {
	items, err := tomledit.Scan(data)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Kind != tomledit.KeyValue {
			continue
		}
		key := strings.Join(it.Path(), ".")
		settings = append(settings, setting{
			key: key, table: strings.Join(it.Table, "."), line: it.Line,
			keyStart: it.Start, start: it.ValueStart, end: it.ValueEnd,
		})
		for _, inner := range it.Inner {
			settings = append(settings, setting{key: key + "." + strings.Join(inner.Key, "."), table: key, line: inner.Line, keyStart: -1})
		}
	}
	return settings, nil
}

func lineStart(data []byte, at int) int { return 1 + bytes.LastIndexByte(data[:at], '\n') }

// A kind says how the value of a key is written.
type kind uint8

const (
	kindString kind = iota
	kindInt
	kindBool
	kindList
	kindLists
)

// A Key is something that can be set.
type Key struct {
	Name string
	Doc  string
	kind kind
}

// Keys are all keys but those of single colours, which are "colors.<name>".
func Keys() []Key {
	return []Key{
		{"segments", "what the line shows, in this order", kindList},
		{"lines", "the same for several lines: a list of lists", kindLists},
		{"separator", "what stands between two segments", kindString},
		{"theme", strings.Join(statusline.ThemeNames(), ", "), kindString},
		{"symbols", strings.Join(statusline.SymbolNames(), ", "), kindString},
		{"color", strings.Join(colorNames, ", "), kindString},
		{"width", "columns; 0 is the terminal's width", kindInt},
		{"links", "whether the pull request is a link", kindBool},
		{"budget", "how long the line waits for git", kindString},
		{"exec.refresh", "for how long the output of an exec segment is current", kindString},
		{"exec.limit", "how long its command may run", kindString},
	}
}

func keyNamed(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	if role, ok := strings.CutPrefix(name, "colors."); ok {
		if _, ok := statusline.RoleNamed(role); ok {
			return Key{name, "", kindString}, true
		}
	}
	return Key{}, false
}

// ErrNoKey is returned for a key that does not exist.
var ErrNoKey = errors.New("no such key")

// Get is the value of a key, as the document has it or the default: text as it
// is, everything else as TOML. [Set] takes it back.
func Get(c Config, key string) (string, error) {
	k, ok := keyNamed(key)
	if !ok {
		return "", fmt.Errorf("%s: %w; there are %s", key, ErrNoKey, keyList())
	}
	return value(c, k), nil
}

// TOML is every key with its value, as the lines of a document.
func TOML(c Config) []string {
	var lines []string
	for _, k := range Keys() {
		text := value(c, k)
		if k.kind == kindString {
			text = tomledit.Quote(text)
		}
		lines = append(lines, k.Name+" = "+text)
	}
	return lines
}

func value(c Config, k Key) string {
	if name, ok := strings.CutPrefix(k.Name, "colors."); ok {
		role, _ := statusline.RoleNamed(name)
		return c.Layout.Theme[role].String()
	}
	switch k.Name {
	case "segments":
		if len(c.Layout.Lines) == 1 {
			return entryList(c.Layout.Lines[0])
		}
		return "[]"
	case "lines":
		var parts []string
		for _, l := range c.Layout.Lines {
			parts = append(parts, entryList(l))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case "separator":
		return c.Layout.Separator
	case "theme":
		return c.Theme
	case "symbols":
		return c.Symbols
	case "color":
		return c.Color
	case "width":
		return strconv.Itoa(c.Layout.Width)
	case "links":
		return strconv.FormatBool(c.Layout.Links)
	case "budget":
		return c.Budget.String()
	case "exec.refresh":
		return c.CommandTTL.String()
	}
	return c.CommandLimit.String()
}

func keyList() string {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	return strings.Join(append(names, "colors.<name>"), ", ")
}

func entryList(entries []statusline.Entry) string {
	var parts []string
	for _, e := range entries {
		parts = append(parts, tomledit.Quote(e.String()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// encode writes what a person typed as the TOML of the key's kind. A list may
// be given as TOML or as words separated by commas.
func encode(k Key, text string) (string, error) {
	switch k.kind {
	case kindInt:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return "", fmt.Errorf("%s: %q is no number", k.Name, text)
		}
		return strconv.Itoa(n), nil
	case kindBool:
		switch text {
		case "true", "false":
			return text, nil
		}
		return "", fmt.Errorf("%s: %q; want true or false", k.Name, text)
	case kindList:
		if strings.HasPrefix(strings.TrimSpace(text), "[") {
			return array(k, text)
		}
		var parts []string
		for word := range strings.SplitSeq(text, ",") {
			parts = append(parts, tomledit.Quote(strings.TrimSpace(word)))
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case kindLists:
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "[") {
			return "", fmt.Errorf(`%s: want a list of lists, such as [["sandbox", "folder"], ["model"]]`, k.Name)
		}
		return array(k, text)
	}
	return tomledit.Quote(text), nil
}

// array checks that text is one TOML value and nothing behind it.
func array(k Key, text string) (string, error) {
	text = strings.TrimSpace(text)
	const before = "x = "
	items, err := tomledit.Scan([]byte(before + text))
	if err != nil {
		return "", fmt.Errorf("%s: %s", k.Name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if len(items) != 1 || items[0].ValueEnd != len(before)+len(text) {
		return "", fmt.Errorf("%s: %q is not one array", k.Name, text)
	}
	return text, nil
}

// Set changes one key in the text of the file and keeps every other byte.
// segments and lines replace each other. The result is checked: a value that
// the file may not have is an error.
func Set(path string, data []byte, key, text string) ([]byte, error) {
	k, ok := keyNamed(key)
	if !ok {
		return nil, fmt.Errorf("%s: %w; there are %s", key, ErrNoKey, keyList())
	}
	value, err := encode(k, text)
	if err != nil {
		return nil, err
	}
	if _, errs := Parse(path, data); hasBroken(errs) {
		return nil, fmt.Errorf("%w; mend the file first", errs[0])
	}
	switch key {
	case "segments":
		data, err = unset(data, "lines")
	case "lines":
		data, err = unset(data, "segments")
	}
	if err != nil {
		return nil, err
	}
	settings, err := scan(data)
	if err != nil {
		return nil, err
	}
	out, err := place(data, settings, key, value)
	if err != nil {
		return nil, err
	}
	if _, errs := Parse(path, out); hasBroken(errs) {
		for _, e := range errs {
			if !e.Unknown {
				return nil, errors.New(e.Msg)
			}
		}
	}
	return out, nil
}

func hasBroken(errs []*Error) bool {
	for _, e := range errs {
		if !e.Unknown {
			return true
		}
	}
	return false
}

func place(data []byte, settings []setting, key, value string) ([]byte, error) {
	path := strings.Split(key, ".")
	table := strings.Join(path[:len(path)-1], ".")
	for _, s := range settings {
		if s.key == key && s.keyStart < 0 || s.key == table {
			return nil, fmt.Errorf("line %d: %s is an inline table; write it as [%s] to have its keys set", s.line, table, table)
		}
	}
	return tomledit.Set(data, path, value)
}

// unset removes a top-level key with its line.
func unset(data []byte, key string) ([]byte, error) {
	settings, err := scan(data)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if s.key != key || s.keyStart < 0 {
			continue
		}
		end := len(data)
		if i := bytes.IndexByte(data[s.end:], '\n'); i >= 0 {
			end = s.end + i + 1
		}
		return append(bytes.Clone(data[:lineStart(data, s.keyStart)]), data[end:]...), nil
	}
	return data, nil
}

// A Change gives a key the value that [Set] would give it.
type Change struct{ Key, Text string }

// SetAll makes several changes, or none if one of them is not possible.
func SetAll(path string, data []byte, changes []Change) ([]byte, error) {
	for _, c := range changes {
		var err error
		if data, err = Set(path, data, c.Key, c.Text); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Read is the text of the file, empty if there is none.
func Read(path string) ([]byte, error) {
	data, err := regularfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// ErrChanged is returned by [Write] if the file is not what the caller read.
var ErrChanged = errors.New("it was changed by somebody else")

// Write replaces the file, which has to hold old, with data. What it replaces
// is kept in the directory backups, and the path of that copy is returned; it
// is empty if there was no file. Write creates a missing file and its
// directory, and keeps two writers apart.
func Write(path string, old, data []byte, backups string) (backup string, err error) {
	err = locked(path, func() error {
		now, err := Read(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, old) {
			return fmt.Errorf("%s: %w", path, ErrChanged)
		}
		backup, err = write(path, now, data, backups)
		return err
	})
	return backup, err
}

// SetFile is [Set] for the file itself, written as [Write] does.
func SetFile(path, key, text, backups string) error {
	return locked(path, func() error {
		data, err := Read(path)
		if err != nil {
			return err
		}
		out, err := Set(path, data, key, text)
		if err != nil || bytes.Equal(out, data) {
			return err
		}
		_, err = write(path, data, out, backups)
		return err
	})
}

func locked(path string, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.TryLock(path + ".lock")
	if err != nil {
		return fmt.Errorf("%s: %w; try again", path, err)
	}
	defer lock.Unlock()
	return f()
}

func write(path string, old, data []byte, backups string) (backup string, err error) {
	if len(old) > 0 {
		if backup, err = keep(old, backups); err != nil {
			return "", fmt.Errorf("backup of %s: %w", path, err)
		}
	}
	return backup, atomicfile.Write(path, data, 0o644)
}

// Backups is the directory that [Write] keeps replaced files in; empty if no
// home directory is known.
func Backups(getenv func(string) string) string {
	dir := dirs.State(getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "status-line")
}

// keepBackups is how many replaced files are kept.
const keepBackups = 20

const backupPrefix = "status-line.toml."

func keep(data []byte, dir string) (path string, err error) {
	if dir == "" {
		return "", errors.New("no directory for backups is known; set HOME or XDG_STATE_HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// Names sort by time. Nothing is written over.
	stamp := time.Now().UTC().Format("20060102T150405.000000Z")
	path = filepath.Join(dir, backupPrefix+stamp)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return path, nil // more stay than needed
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), backupPrefix) {
			names = append(names, e.Name())
		}
	}
	for _, name := range names[:max(0, len(names)-keepBackups)] {
		os.Remove(filepath.Join(dir, name))
	}
	return path, nil
}
