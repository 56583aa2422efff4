package shellcmd

import (
	"errors"
	"hash/maphash"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the analysis. They count, they do not measure time, so that a line
// has the same commands on every machine.
const (
	maxFrames    = 9000      // stack frames while parsing: some 1000 nested subshells
	maxDepth     = 24        // texts within texts (eval, bash -c), calls within calls
	maxNested    = 4 << 20   // bytes of nested text parsed in all
	maxRepeats   = 8000      // statements walked again by loops, calls and alternatives
	maxWork      = 20 << 20  // steps of pattern matching and the like
	maxText      = 8 << 20   // bytes that expansions make
	maxFileBytes = 256 << 10 // of a script that is read through FS
)

// Parse finds the commands of source. It accepts any text and always returns a
// Line; its cost is linear in the text's length.
func Parse(source string, opt Options) *Line {
	line := &Line{Source: source, Exact: true}
	w := &walker{line: line, opt: opt, repeats: maxRepeats, nested: maxNested, work: maxWork, made: maxText + 4*len(source)}
	line.w = w
	text := strings.TrimPrefix(source, "\ufeff")
	base := len(source) - len(text)
	text, shifts := escapeSource(text)
	w.runSource(w.newShell(), &origin{text: text, off: base, shifts: shifts})
	return line
}

// A walker holds what one Parse shares over all shells of the line.
type walker struct {
	line *Line
	opt  Options

	wordSlab    []Word
	commandSlab []Command

	programs map[string]*program

	marks    []Part
	varMarks map[string]string
	globs    [3]string

	files    map[string][]version
	madeDirs map[string]bool
	writes   int // file writes so far: the clock of versions

	depth     int
	repeats   int  // left
	nested    int  // bytes left
	work      int  // steps left
	made      int  // bytes of expansions left
	exported  bool // some function was
	spawned   int  // subshells of pipes and background jobs around
	loops     int  // > 0 in code that may be walked again
	repeating int  // > 0 while it is
	seen      map[uint64]struct{}
	seed      maphash.Seed // random: nobody can make two commands collide
	altered   bool         // some variable or directory has alternatives

	parsers [2]*syntax.Parser // bash, zsh

	ctx surroundings
}

// Surroundings are what the commands being walked have in common.
type surroundings struct {
	src       *origin
	via       []Layer
	maybe     bool
	remote    bool
	container bool
	inexact   bool
	function  string
	piped     *Command
	pick      *choice
}

func (w *walker) newShell() *shell {
	sh := &shell{w: w, dirs: []string{w.opt.Dir}, braces: w.opt.Dialect != POSIX, noSplit: w.opt.Dialect == Zsh}
	sh.params = &params{zero: "bash"}
	return sh
}

// An origin is a text that is parsed, and where it stands in Line.Source.
type origin struct {
	text   string
	off    int // of text in Line.Source, -1 if it is not there verbatim
	shifts []shift
}

// at maps an offset in the text to one in Line.Source.
func (o *origin) at(i uint) int {
	at := int(i)
	if n, found := slices.BinarySearchFunc(o.shifts, at, func(s shift, at int) int { return s.at - at }); found {
		at -= o.shifts[n].by
	} else if n > 0 {
		at -= o.shifts[n-1].by
	}
	return o.off + at
}

// span gives the bounds of a node in Line.Source, 0, 0 if it has none.
func (w *walker) span(from, to syntax.Pos) (int, int) {
	o := w.ctx.src
	if o == nil || o.off < 0 {
		return 0, 0
	}
	pos, end := o.at(from.Offset()), o.at(to.Offset())
	if pos < 0 || end < pos || end > len(w.line.Source) {
		return 0, 0
	}
	return pos, end
}

// runSource walks a text in the dialect of the line.
func (w *walker) runSource(sh *shell, o *origin) {
	switch w.opt.Dialect {
	case PowerShell:
		w.line.Exact = false
		w.runPowerShell(sh, o)
	case Cmd:
		w.line.Exact = false
		w.runCmd(sh, o)
	default:
		w.runShell(sh, o)
	}
}

// runShell parses and walks shell text. What follows a syntax error is split
// lexically: bash has run the statements before it by then.
func (w *walker) runShell(sh *shell, o *origin) {
	old := w.ctx.src
	w.ctx.src = o
	defer func() { w.ctx.src = old }()

	first, second := syntax.LangBash, syntax.LangZsh
	if w.opt.Dialect == Zsh {
		first, second = second, first
	}
	stmts, rest, err := w.parseText(o.text, first)
	if err != nil && !errors.Is(err, errTooDeep) {
		if s, r, err2 := w.parseText(o.text, second); err2 == nil || (r > rest && !errors.Is(err2, errTooDeep)) {
			stmts, rest, err = s, r, err2
		}
	}
	if errors.Is(err, errTooDeep) {
		w.line.Limited = true
	}
	w.stmts(sh, stmts)
	if err != nil {
		w.line.Exact = false
		w.runLexical(sh, o, rest)
	}
}

var errTooDeep = errors.New("text is nested too deeply")

// parseText parses text as far as it goes. On an error the statements before
// it are returned, and the offset of the text that they do not cover.
func (w *walker) parseText(text string, lang syntax.LangVariant) (stmts []*syntax.Stmt, rest int, err error) {
	size := len(text)
	for range 4 {
		stmts, rest, err = w.parseOnce(text, lang)
		stop, ok := unclosedHeredoc(err)
		if !ok {
			break
		}
		// Shells take the end of the text as the end of the here-document.
		text += "\n" + stop + "\n"
	}
	return stmts, min(rest, size), err
}

func (w *walker) parseOnce(text string, lang syntax.LangVariant) (stmts []*syntax.Stmt, rest int, err error) {
	defer func() {
		// The parser of a fast-moving library meets hostile text here; text
		// that it cannot take is split lexically instead.
		if r := recover(); r != nil {
			err = errors.New("parser gave up")
			w.parsers = [2]*syntax.Parser{}
		}
	}()
	i := 0
	if lang == syntax.LangZsh {
		i = 1
	}
	if w.parsers[i] == nil {
		w.parsers[i] = syntax.NewParser(syntax.Variant(lang))
	}
	p := w.parsers[i]
	for s, e := range p.StmtsSeq(&depthReader{text: text}) {
		if e != nil {
			return stmts, rest, e
		}
		stmts = append(stmts, s)
		rest = max(rest, int(s.End().Offset()))
	}
	return stmts, len(text), nil
}

func unclosedHeredoc(err error) (string, bool) {
	var pe syntax.ParseError
	if !errors.As(err, &pe) {
		return "", false
	}
	quoted, ok := strings.CutPrefix(pe.Text, "unclosed here-document ")
	if !ok {
		return "", false
	}
	stop, err := strconv.Unquote(quoted)
	return stop, err == nil && stop != ""
}

// A depthReader feeds the parser and stops it when its own stack, at the moment
// it asks for more text, has become too deep. Counting brackets beforehand could
// be fooled by quoting; the stack cannot, and overflowing it would end the
// process. A chunk is short, so that little depth is gained between checks.
type depthReader struct {
	text  string
	asked bool
}

func (r *depthReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	var pc [1]uintptr
	if r.asked && runtime.Callers(maxFrames, pc[:]) > 0 {
		r.text = ""
		return 0, errTooDeep
	}
	r.asked = true // the first time nothing is nested yet
	n := copy(p[:min(len(p), 1024)], r.text)
	r.text = r.text[n:]
	return n, nil
}

// spend takes n steps from the bound on work; false if it is used up.
func (w *walker) spend(n int) bool {
	if n < 0 || n > w.work {
		w.line.Limited = true
		return false
	}
	w.work -= n
	return true
}
