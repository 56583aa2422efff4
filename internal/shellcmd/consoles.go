package shellcmd

import "strings"

// A console is a program with commands of its own, among them one that gives the
// rest of its line to a shell: sqlite3's .shell, psql's \!.
type console struct {
	programs string // blank separated
	// options are those, short and long, whose value is a line for the console;
	// others are those with another value.
	options, others string
	longs           string // the long ones with a value
	oneDash         bool   // long options may have one dash
	operands        bool   // operands behind the first are lines
	escapes         []string
	within          bool // an escape may stand behind other text of the line
}

// consoles is read only. The commands are those of the programs' manuals: SQLite
// 3.46, PostgreSQL 16, MySQL 8.4 and MariaDB 11, GDB 15, LLDB 18, OpenSSH 9.
var consoles = []console{
	{programs: "sqlite3 sqlite", options: "cmd", longs: "cmd init separator nullvalue newline mmap maxsize lookaside pagecache vfs key", oneDash: true, operands: true,
		escapes: []string{".shell ", ".system ", ".sh ", ".sys ", ".output |", ".once |", ".import |", `.import "|`}},
	{programs: "psql", options: "c command", others: "dfhopvLFPRTU",
		longs:   "command dbname file host output port set variable log-file field-separator pset record-separator table-attr username",
		escapes: []string{`\!`, `\o |`, `\g |`, `\w |`}, within: true},
	{programs: "mysql mariadb", options: "e execute", others: "huPDS", longs: "execute host user port database socket init-command prompt pager tee delimiter",
		escapes: []string{`\!`, "system ", `\P `}, within: true},
	{programs: "gdb rust-gdb cgdb", options: "ex iex eval-command init-eval-command", others: "xpcsdb", oneDash: true,
		longs:   "ex iex eval-command init-eval-command command init-command cd directory symbols exec se core pid data-directory",
		escapes: []string{"shell ", "!", "pipe ", "| "}},
	{programs: "lldb rust-lldb", options: "o O k one-line one-line-before-file one-line-on-crash", others: "sSKnpacf",
		longs:   "one-line one-line-before-file one-line-on-crash source source-before-file arch file attach-name attach-pid core",
		escapes: []string{"platform shell ", "shell "}},
	{programs: "sftp", others: "BbcDFiJloPRSsX", escapes: []string{"!"}},
	{programs: "ftp", escapes: []string{"!"}},
	{programs: "lftp", options: "c e", others: "pu", escapes: []string{"!"}},
	{programs: "ed red", others: "p", escapes: []string{"!", "r !", "w !", "e !"}},
	{programs: "bc dc", options: "e", escapes: []string{"!"}},
}

func consoleFor(name string) *console {
	for i := range consoles {
		if listed(consoles[i].programs, name) {
			return &consoles[i]
		}
	}
	return nil
}

// runConsole runs what a console's lines give to a shell: those of its options
// and operands, and what it reads.
func (w *walker) runConsole(sh *shell, inv *invocation, c *console) {
	name := programName(inv.args[0].Value)
	letters := c.others
	for opt := range strings.SplitSeq(c.options, " ") {
		if len(opt) == 1 {
			letters += opt
		}
	}
	wr := wrapper{name: name, short: letters, long: c.longs, oneDash: c.oneDash}
	opts, rest := wr.options(inv.args[1:])
	for _, o := range opts {
		switch {
		case o.has && listed(c.options, o.name):
			w.consoleLines(sh, inv, c, o.value.raw, name)
		case o.name == "args":
			w.nest(sh, inv, rest, nesting{layer: name + " --args", maybe: true})
		}
	}
	if c.operands && len(rest) > 1 {
		for _, line := range rest[1:] {
			w.consoleLines(sh, inv, c, line.raw, name)
		}
	}
	if sh.in != nil {
		w.consoleLines(sh, inv, c, *sh.in, name)
	}
}

func (w *walker) consoleLines(sh *shell, inv *invocation, c *console, text, name string) {
	if !w.spend(len(text)) {
		return
	}
	found := 0
	for line := range strings.SplitSeq(w.literal(text), "\n") {
		line = strings.TrimLeft(line, " \t")
		for _, escape := range c.escapes {
			rest, ok := strings.CutPrefix(line, escape)
			if !ok && c.within && escape[0] == '\\' {
				_, rest, ok = strings.Cut(line, escape)
			}
			if !ok {
				continue
			}
			if found++; found > 1000 {
				w.line.Limited = true
				return
			}
			if strings.HasSuffix(escape, `"|`) {
				rest, _, _ = strings.Cut(rest, `"`)
			}
			w.nestString(sh, inv, w.word(rest), nesting{layer: name + " " + strings.TrimSpace(escape)})
			break
		}
	}
}
