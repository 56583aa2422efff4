// Package configure is the screen on which a person arranges the status line:
// a bubbletea model with the segments, the look, a preview, and what would be
// written. It changes nothing until the person confirms the last page, and
// only what the person changed; the caller does the writing.
package configure

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"
	"github.com/rogpeppe/go-internal/diff"

	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/term"
)

// Options are what a [Screen] works on.
type Options struct {
	Path   string // of the file, for messages
	Data   []byte // its text, empty if there is none
	Getenv func(string) string
	Color  bool
	// Write replaces the file and returns the path of the backup, if any.
	Write func(data []byte) (backup string, err error)
}

// A Screen is the model. Its zero value is of no use; see [New].
type Screen struct {
	o             Options
	width, height int

	page   page
	cursor [2]int // of the pages with a list
	sample int

	items   []item
	initial [][]statusline.Entry
	options []option

	input   *input
	message string
	failed  bool // the message is an error

	data   []byte // what the file would be
	conf   config.Config
	err    error // why data cannot be made
	scroll int   // of the last page

	done    bool
	written bool
	backup  string
}

type page int

const (
	pageSegments page = iota
	pageLook
	pageWrite
	numPages
)

// An option is a key with one value, and the values to choose from.
type option struct {
	key      string
	doc      string
	was, now string
	values   []string
	typed    bool // others may be typed in
}

// An input is a line that the person is typing.
type input struct {
	prompt string
	text   string
	accept func(text string) error
}

// New returns the screen for a file. A file that the line itself would pass
// over cannot be arranged: the errors say why.
func New(o Options) (*Screen, []*config.Error) {
	conf, errs := config.Parse(o.Path, o.Data)
	for _, e := range errs {
		if !e.Unknown {
			return nil, errs
		}
	}
	s := &Screen{o: o, width: 80, height: 24, sample: statusline.SamplePullRequest}
	s.items = arrange(conf.Layout.Lines)
	s.initial = arranged(s.items)
	doc := make(map[string]string)
	for _, k := range config.Keys() {
		doc[k.Name] = k.Doc
	}
	for _, opt := range []option{
		{key: "theme", values: statusline.ThemeNames()},
		{key: "symbols", values: statusline.SymbolNames()},
		{key: "separator", values: []string{" | ", " · ", " › ", " / ", " • ", "  "}, typed: true},
		{key: "color", values: config.ColorNames()},
		{key: "links", values: []string{"true", "false"}},
		{key: "width", values: []string{"0", "80", "100", "120"}, typed: true},
		{key: "budget", values: []string{"50ms", "100ms", "150ms", "300ms", "1s"}, typed: true},
		{key: "exec.refresh", values: []string{"1s", "10s", "1m0s", "10m0s"}, typed: true},
		{key: "exec.limit", values: []string{"500ms", "2s", "5s", "10s"}, typed: true},
	} {
		opt.doc = doc[opt.key]
		opt.was, _ = config.Get(conf, opt.key)
		opt.now = opt.was
		if !slices.Contains(opt.values, opt.was) {
			opt.values = append([]string{opt.was}, opt.values...)
		}
		s.options = append(s.options, opt)
	}
	s.refresh()
	if len(errs) > 0 {
		s.say("the file has keys that mean nothing, such as %v", errs[0])
	}
	return s, nil
}

// Written reports whether the file was written, and where what it replaced is.
func (s *Screen) Written() (backup string, ok bool) { return s.backup, s.written }

// Changes are what the person changed, in the order of the screen.
func (s *Screen) Changes() []config.Change {
	var changes []config.Change
	if lines := arranged(s.items); !sameLines(lines, s.initial) {
		key := "lines"
		if len(lines) == 1 {
			key = "segments"
		}
		text, _ := config.Get(config.Config{Layout: statusline.Layout{Lines: lines}}, key)
		changes = append(changes, config.Change{Key: key, Text: text})
	}
	for _, opt := range s.options {
		if opt.now != opt.was {
			changes = append(changes, config.Change{Key: opt.key, Text: opt.now})
		}
	}
	return changes
}

// refresh works out what the file would be, and what the line would look like.
func (s *Screen) refresh() {
	s.data, s.err = config.SetAll(s.o.Path, s.o.Data, s.Changes())
	if s.err == nil {
		s.conf, _ = config.Parse(s.o.Path, s.data)
	}
}

func (s *Screen) say(format string, args ...any) {
	s.message, s.failed = term.Clean(fmt.Sprintf(format, args...), 4096), false
}

func (s *Screen) fail(err error) {
	s.message, s.failed = term.Clean(err.Error(), 4096), true
}

// Init implements tea.Model.
func (s *Screen) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s *Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tea.PasteMsg:
		if s.input != nil {
			s.input.text += typed(msg.Content)
		}
	case tea.KeyPressMsg:
		s.message, s.failed = "", false
		if msg.String() == "ctrl+c" {
			s.done = true
		} else if s.input != nil {
			s.typeKey(msg)
		} else {
			s.key(msg.String())
		}
		s.refresh()
	}
	if s.done {
		return s, tea.Quit
	}
	return s, nil
}

// typed is text as a value may hold it: on one line, with nothing that a
// terminal would obey.
func typed(text string) string {
	return strings.ReplaceAll(term.Clean(strings.TrimRight(text, "\r\n"), 4096), "⏎", " ")
}

func (s *Screen) typeKey(msg tea.KeyPressMsg) {
	in := s.input
	switch msg.String() {
	case "esc":
		s.input = nil
	case "enter":
		if err := in.accept(in.text); err != nil {
			s.fail(err)
			return
		}
		s.input = nil
	case "backspace", "ctrl+h":
		in.text = in.text[:lastCluster(in.text)]
	case "ctrl+u":
		in.text = ""
	default:
		in.text += typed(msg.Text)
	}
}

// lastCluster is where the last character, as a person sees it, begins.
func lastCluster(text string) int {
	at := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		at, _ = g.Positions()
	}
	return at
}

func (s *Screen) key(key string) {
	switch key {
	case "q", "esc":
		s.done = true
	case "tab":
		s.page = (s.page + 1) % numPages
		s.scroll = 0
	case "shift+tab":
		s.page = (s.page + numPages - 1) % numPages
		s.scroll = 0
	case "1", "2", "3":
		s.page, s.scroll = page(key[0]-'1'), 0
	case "w":
		s.page, s.scroll = pageWrite, 0
	case "p":
		s.sample = (s.sample + 1) % len(statusline.Samples())
	case "P", "shift+p":
		n := len(statusline.Samples())
		s.sample = (s.sample + n - 1) % n
	case "u":
		s.undo()
	default:
		switch s.page {
		case pageSegments:
			s.keySegments(key)
		case pageLook:
			s.keyLook(key)
		case pageWrite:
			s.keyWrite(key)
		}
	}
}

// undo goes back to what the file says.
func (s *Screen) undo() {
	s.items = arrange(s.initial)
	for i := range s.options {
		s.options[i].now = s.options[i].was
	}
	s.cursor = [2]int{}
	s.say("back to what the file says")
}

// move is the cursor after a key that moves it in a list of n rows.
func move(cursor, n int, key string) (int, bool) {
	const leap = 10
	switch key {
	case "up", "k":
		cursor--
	case "down", "j":
		cursor++
	case "pgup":
		cursor -= leap
	case "pgdown":
		cursor += leap
	case "home", "g":
		cursor = 0
	case "end", "G", "shift+g":
		cursor = n - 1
	default:
		return cursor, false
	}
	return min(max(cursor, 0), n-1), true
}

func (s *Screen) keySegments(key string) {
	at := &s.cursor[pageSegments]
	if to, ok := move(*at, len(s.items), key); ok {
		*at = to
		return
	}
	it := s.items[*at]
	switch key {
	case "space", " ", "x":
		s.toggle(*at)
	case "K", "shift+k", "shift+up", "-":
		s.shift(*at, -1)
	case "J", "shift+j", "shift+down", "+":
		s.shift(*at, +1)
	case "n":
		s.breakLine(*at)
	case "enter", "e":
		if it.on && it.entry.Arg != "" {
			s.ask(it.entry.Segment, it.entry.Arg, func(arg string) { s.items[*at].entry.Arg = arg })
		} else if key == "enter" {
			s.toggle(*at)
		}
	}
}

// toggle puts a segment on the line, at its end, or takes it off.
func (s *Screen) toggle(at int) {
	it := s.items[at]
	switch {
	case it.brk:
		s.items = slices.Delete(s.items, at, at+1)
	case it.on && it.entry.Segment == "sandbox" && s.countTags() == 1:
		s.say("the sandbox tag is always shown; it can be moved")
	case it.on:
		s.items[at].on = false
		s.items = withRest(s.items)
	case it.template():
		s.ask(it.entry.Segment, "", func(arg string) {
			s.add(statusline.Entry{Segment: it.entry.Segment, Arg: arg})
		})
	default:
		s.add(it.entry)
	}
	s.cursor[pageSegments] = min(s.cursor[pageSegments], len(s.items)-1)
}

func (s *Screen) countTags() int {
	n := 0
	for _, it := range s.items {
		if it.on && it.entry.Segment == "sandbox" {
			n++
		}
	}
	return n
}

// add puts a segment at the end of the line, and the cursor on it, where it
// can be moved.
func (s *Screen) add(e statusline.Entry) {
	at := countOn(s.items)
	s.items = withRest(slices.Insert(s.items, at, item{entry: e, on: true}))
	s.cursor[pageSegments] = at
}

// shift moves a row that is on up or down among its like.
func (s *Screen) shift(at, by int) {
	to := at + by
	if !s.items[at].on {
		s.say("switch it on first (space)")
		return
	}
	if to < 0 || to >= countOn(s.items) {
		return
	}
	s.items[at], s.items[to] = s.items[to], s.items[at]
	s.cursor[pageSegments] = to
}

// breakLine begins a new line at a row.
func (s *Screen) breakLine(at int) {
	n := 1
	for _, it := range s.items {
		if it.brk {
			n++
		}
	}
	switch {
	case n >= config.MaxLines:
		s.say("at most %d lines", config.MaxLines)
	case at == 0 || at > countOn(s.items):
		s.say("a new line begins at a segment that is on the line and not the first")
	default:
		s.items = slices.Insert(s.items, at, item{brk: true, on: true})
		s.cursor[pageSegments] = at + 1
	}
}

// ask has the argument of a segment typed in.
func (s *Screen) ask(segment, text string, use func(arg string)) {
	s.input = &input{
		prompt: segment + ":<" + documented(segment).Arg + ">",
		text:   text,
		accept: func(arg string) error {
			if _, ok := statusline.ParseEntry(segment + ":" + arg); !ok {
				return fmt.Errorf("%s needs its %s; Esc gives up", segment, documented(segment).Arg)
			}
			use(arg)
			return nil
		},
	}
}

func (s *Screen) keyLook(key string) {
	at := &s.cursor[pageLook]
	if to, ok := move(*at, len(s.options), key); ok {
		*at = to
		return
	}
	opt := &s.options[*at]
	n := len(opt.values)
	i := slices.Index(opt.values, opt.now)
	switch key {
	case "right", "l", "space", " ":
		opt.now = opt.values[(i+1)%n]
	case "left", "h":
		opt.now = opt.values[(i+n-1)%n]
	case "enter", "e":
		if !opt.typed {
			opt.now = opt.values[(i+1)%n]
			return
		}
		s.input = &input{prompt: opt.key, text: opt.now, accept: func(text string) error {
			// The editor knows what a value may be.
			if _, err := config.SetAll(s.o.Path, nil, []config.Change{{Key: opt.key, Text: text}}); err != nil {
				return err
			}
			opt.now = text
			if !slices.Contains(opt.values, text) {
				opt.values = append(opt.values, text)
			}
			return nil
		}}
	}
}

func (s *Screen) keyWrite(key string) {
	switch key {
	case "up", "k":
		s.scroll--
	case "down", "j":
		s.scroll++
	case "pgup":
		s.scroll -= 10
	case "pgdown":
		s.scroll += 10
	case "enter", "y":
		s.write()
	}
	s.scroll = min(max(s.scroll, 0), max(len(s.difference())-1, 0))
}

func (s *Screen) write() {
	switch {
	case s.err != nil:
		s.fail(s.err)
	case bytes.Equal(s.data, s.o.Data):
		s.say("nothing is different; q leaves")
	default:
		backup, err := s.o.Write(s.data)
		if err != nil {
			s.fail(err)
			return
		}
		s.backup, s.written, s.done = backup, true, true
	}
}

// difference is what writing would change, as lines of a unified diff.
func (s *Screen) difference() []string {
	if s.err != nil || bytes.Equal(s.data, s.o.Data) {
		return nil
	}
	text := diff.Diff("old", s.o.Data, "new", s.data)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	// The library's heading names the two files.
	for i, line := range lines {
		if strings.HasPrefix(line, "@@") {
			lines = lines[i:]
			break
		}
	}
	for i, line := range lines {
		lines[i] = term.Clean(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "), 4096)
	}
	return lines
}

// Commands are the commands that make the changes, for a person who leaves
// without writing.
func (s *Screen) Commands() []string {
	var lines []string
	for _, c := range s.Changes() {
		lines = append(lines, "status-line config set "+c.Key+" "+shellQuote(c.Text))
	}
	return lines
}

func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._,:/", r))
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
