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

	"github.com/pelletier/go-toml/v2/unstable"

	"sallyport/internal/atomicfile"
	"sallyport/internal/dirs"
	"sallyport/internal/regularfile"
	"sallyport/internal/statusline"
)

// A setting is one key of the document and where it stands.
type setting struct {
	key        string // dotted, with its table
	table      string
	line       int
	start, end int // of the value
	keyStart   int
}

// A header is a [table] line.
type header struct {
	table string
	start int
}

// scan finds the keys of a document that go-toml accepts.
func scan(data []byte) ([]setting, error) {
	settings, _, err := scanAll(data)
	return settings, err
}

func scanAll(data []byte) (settings []setting, headers []header, err error) {
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		expr := p.Expression()
		switch expr.Kind {
		case unstable.Table, unstable.ArrayTable:
			parts, start, _ := keyParts(expr)
			table = strings.Join(parts, ".")
			headers = append(headers, header{table, lineStart(data, start)})
		case unstable.KeyValue:
			parts, start, keyEnd := keyParts(expr)
			if table != "" {
				parts = append([]string{table}, parts...)
			}
			end := int(expr.Raw.Offset) + int(expr.Raw.Length)
			eq := bytes.IndexByte(data[keyEnd:], '=')
			if eq < 0 || keyEnd+eq+1 > end {
				return nil, nil, errors.New("key without a value")
			}
			valueStart := keyEnd + eq + 1
			for valueStart < end && (data[valueStart] == ' ' || data[valueStart] == '\t') {
				valueStart++
			}
			key := strings.Join(parts, ".")
			valueEnd := valueStart + len(bytes.TrimRight(data[valueStart:end], " \t\r\n"))
			settings = append(settings, setting{
				key: key, table: table, line: 1 + bytes.Count(data[:start], []byte("\n")),
				keyStart: start, start: valueStart, end: valueEnd,
			})
			// The keys of an inline table are found for messages; they cannot
			// be edited one by one.
			if expr.Value().Kind == unstable.InlineTable {
				it := expr.Value().Children()
				for it.Next() {
					if child := it.Node(); child.Kind == unstable.KeyValue {
						names, at, _ := keyParts(child)
						settings = append(settings, setting{
							key: key + "." + strings.Join(names, "."), table: key, line: 1 + bytes.Count(data[:at], []byte("\n")), keyStart: -1,
						})
					}
				}
			}
		}
	}
	return settings, headers, p.Error()
}

// keyParts are the parts of an expression's key and the range they take.
func keyParts(expr *unstable.Node) (parts []string, start, end int) {
	start = -1
	it := expr.Key()
	for it.Next() {
		n := it.Node()
		parts = append(parts, string(n.Data))
		if start < 0 {
			start = int(n.Raw.Offset)
		}
		end = int(n.Raw.Offset) + int(n.Raw.Length)
	}
	return parts, max(start, 0), end
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
			text = quote(text)
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
		parts = append(parts, quote(e.String()))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quote writes a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
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
			parts = append(parts, quote(strings.TrimSpace(word)))
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case kindLists:
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "[") {
			return "", fmt.Errorf(`%s: want a list of lists, such as [["sandbox", "folder"], ["model"]]`, k.Name)
		}
		return array(k, text)
	}
	return quote(text), nil
}

// array checks that text is one TOML value and nothing behind it.
func array(k Key, text string) (string, error) {
	text = strings.TrimSpace(text)
	const before = "x = "
	settings, headers, err := scanAll([]byte(before + text))
	if err != nil {
		return "", fmt.Errorf("%s: %s", k.Name, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if len(settings) != 1 || len(headers) > 0 || settings[0].end != len(before)+len(text) {
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
	settings, headers, err := scanAll(data)
	if err != nil {
		return nil, err
	}
	out, err := place(data, settings, headers, key, value)
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

func place(data []byte, settings []setting, headers []header, key, value string) ([]byte, error) {
	splice := func(at, end int, text string) []byte {
		return []byte(string(data[:at]) + text + string(data[end:]))
	}
	table, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		table, name = key[:i], key[i+1:]
	}
	last := -1 // end of the last value of that table
	for _, s := range settings {
		switch {
		case s.key == key && s.keyStart < 0, s.key == table:
			return nil, fmt.Errorf("line %d: %s is an inline table; write it as [%s] to have its keys set", s.line, s.table+strings.TrimPrefix(table, s.table), table)
		case s.key == key:
			return splice(s.start, s.end, value), nil
		case s.table == table && s.keyStart >= 0:
			last = s.end
		}
	}
	newline := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		newline = "\r\n"
	}
	text := name + " = " + value + newline
	nextLine := func(at int) int {
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			return at + i + 1
		}
		return len(data)
	}
	var at int
	switch {
	case last >= 0:
		at = nextLine(last)
	case table == "":
		// Before the first table, and before the comment that describes it.
		at = len(data)
		if len(headers) > 0 {
			at = headers[0].start
			for at > 0 {
				prev := lineStart(data, at-1)
				if !bytes.HasPrefix(bytes.TrimLeft(data[prev:at], " \t"), []byte("#")) {
					break
				}
				at = prev
			}
			text += newline
		}
	default:
		at = -1
		for _, h := range headers {
			if h.table == table {
				at = nextLine(h.start)
			}
		}
		if at < 0 {
			at = len(data)
			text = "[" + table + "]" + newline + text
			if len(data) > 0 {
				text = newline + text
			}
		}
	}
	if at > 0 && data[at-1] != '\n' {
		text = newline + text
	}
	return splice(at, at, text), nil
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
