package guards

import (
	"slices"
	"strings"
	"sync"

	"sallyport/internal/shellcmd"
)

// An outputOption says under which options a program takes the name of a file
// that it writes.
type outputOption struct {
	letters string   // that take a value
	longs   []string // that take a value
	out     []string // of these, those that name the file
}

var outputOptions = sync.OnceValue(func() map[string]outputOption {
	return map[string]outputOption{
		"sort":   {"koStT", []string{"key", "output", "buffer-size", "field-separator", "temporary-directory", "parallel", "batch-size"}, []string{"o", "output"}},
		"shuf":   {"ino", []string{"input-range", "head-count", "output", "random-source"}, []string{"o", "output"}},
		"gpg":    {"orRuN", []string{"output", "recipient", "local-user", "homedir", "passphrase", "passphrase-file"}, []string{"o", "output"}},
		"iconv":  {"fto", []string{"from-code", "to-code", "output"}, []string{"o", "output"}},
		"pandoc": {"ofrtMV", []string{"output", "from", "to", "template", "metadata"}, []string{"o", "output"}},
		"aria2c": {"odixsj", []string{"out", "dir"}, []string{"o", "out"}},
		"http":   {"oapsA", []string{"output", "auth"}, []string{"o", "output"}},
		"cc":     {"oIDLlxU", nil, []string{"o"}},
		"go":     {"opC", nil, []string{"o"}},
		"base64": {"oibw", []string{"output", "input", "wrap"}, []string{"o", "output"}},
		"strace": {"oepsuaEPSI", []string{"output"}, []string{"o", "output"}},
		"split":  {"abClnt", nil, nil},
	}
})

// sameOptions are programs that are called like another one.
var sameOptions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"gsort": "sort", "gshuf": "shuf", "gpg2": "gpg", "https": "http", "xh": "http", "xhs": "http", "gcc": "cc", "clang": "cc", "g++": "cc", "clang++": "cc", "ld": "cc", "rustc": "cc", "ltrace": "strace",
	}
})

// outputFiles are the files that other programs write.
func (c *Call) outputFiles(name string) []target {
	var out []target
	add := func(how string, e effect, words ...shellcmd.Word) {
		for i := range words {
			out = append(out, target{word: &words[i], path: words[i].Value, effect: e, how: how})
		}
	}
	if other, ok := sameOptions()[name]; ok {
		name = other
	}
	if o, ok := outputOptions()[name]; ok {
		for _, w := range c.parse(o.letters, o.longs...).values(o.out...) {
			add(name+" -o", writes, *w)
		}
		return out
	}
	switch name {
	case "openssl", "keytool":
		for i, w := range c.Args[:len(c.Args)-1] {
			switch w.Value {
			case "-out", "-keyout", "-writerand", "-sigout":
				add(name+" "+w.Value, writes, c.Args[i+1])
			}
		}
	case "xxd":
		if ops := c.parse("clsogN").operands; len(ops) > 1 {
			add(name, writes, ops[1])
		}
	case "uniq", "guniq":
		if ops := c.parse("fsw", "skip-fields", "skip-chars", "check-chars").operands; len(ops) > 1 {
			add(name, writes, ops[1])
		}
	case "find", "gfind", "bfs":
		for i, w := range c.Args[:len(c.Args)-1] {
			switch w.Value {
			case "-fprint", "-fprint0", "-fls", "-fprintf":
				add(name+" "+w.Value, writes, c.Args[i+1])
			}
		}
	case "docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "incus":
		ops := c.parse("nc", "namespace", "container", "context", "host").operands
		if len(ops) > 0 && (ops[0].Value == "container" || ops[0].Value == "file") {
			ops = ops[1:]
		}
		if len(ops) == 3 && (ops[0].Value == "cp" || ops[0].Value == "pull") && !strings.Contains(ops[2].Value, ":") && ops[2].Value != "-" {
			add(name+" cp", writes, ops[2])
		}
	case "aws", "gsutil", "rclone", "gcloud":
		ops := c.parse("", "profile", "region", "config").operands
		for i, w := range ops {
			switch w.Value {
			case "cp", "mv", "sync", "copy", "copyto", "move", "moveto", "rsync":
				if rest := ops[i+1:]; len(rest) == 2 && !strings.Contains(rest[1].Value, ":") {
					add(name+" "+w.Value, writes, rest[1])
				}
				return out
			}
		}
	case "ditto":
		if ops := c.parse("").operands; len(ops) > 1 {
			add(name, writes, ops[len(ops)-1])
		}
	case "zip":
		if ops := c.parse("bnPtxi").operands; len(ops) > 0 {
			add(name, writes, ops[0])
		}
	case "json":
		if a := c.parse("feEcdo"); a.has("I") {
			for _, w := range a.values("f") {
				add("json -I", writes, *w)
			}
		}
	case "gzip", "bzip2", "xz", "lzma", "compress", "pigz", "pbzip2", "gunzip", "bunzip2", "unxz", "unlzma", "uncompress", "zstd", "unzstd", "lz4", "unlz4":
		out = append(out, c.packed(name)...)
	}
	return out
}

// packed are the files that a compressor replaces.
func (c *Call) packed(name string) []target {
	a := c.parse("SoMTDb", "suffix", "memory", "threads")
	if a.has("c", "stdout", "to-stdout", "l", "list", "t", "test", "h", "help", "version", "V") {
		return nil
	}
	var out []target
	for _, w := range a.values("o") {
		out = append(out, target{word: w, path: w.Value, how: name + " -o"})
	}
	keeps := strings.HasSuffix(name, "zstd") || strings.HasSuffix(name, "lz4")
	for i := range a.operands {
		w := &a.operands[i]
		if !a.has("k", "keep") && !keeps || a.has("rm") {
			out = append(out, target{word: w, path: w.Value, effect: deletes, tree: a.has("r", "recursive"), how: name})
		}
		// What is unpacked loses its suffix.
		if plain := strings.TrimSuffix(w.Value, pathExt(w.Value)); plain != w.Value && (strings.HasPrefix(name, "un") || strings.Contains(name, "gun") || strings.Contains(name, "bun") || a.has("d", "decompress", "uncompress")) {
			plain := shellcmd.NewWord(plain)
			out = append(out, target{word: &plain, path: plain.Value, how: name})
		}
	}
	return out
}

// pathExt is the suffix of a name, with the dot.
func pathExt(p string) string {
	b := base(p)
	if i := strings.LastIndexByte(b, '.'); i > 0 {
		return b[i:]
	}
	return ""
}

// fetched are the names that a download has in the current directory.
func (c *Call) fetched() []shellcmd.Word {
	var out []shellcmd.Word
	for _, w := range c.Args[1:] {
		if strings.Contains(w.Value, "://") {
			address, _, _ := strings.Cut(w.Value, "?")
			out = append(out, shellcmd.NewWord(base(address)))
		}
	}
	return out
}

// onlyViews reports an editor that is told not to write.
func (c *Call) onlyViews(a *args) bool {
	switch c.name {
	case "nano":
		return a.has("v", "view")
	case "ex", "vi", "vim", "nvim", "view":
	default:
		return false
	}
	if c.name != "view" && !a.has("R", "M") {
		return false
	}
	for _, w := range c.Args[1:] {
		// :w! writes all the same.
		switch script := strings.TrimLeft(w.Value, "+:%"); {
		case w.Value == script && !slices.ContainsFunc(a.values("c", "cmd"), func(v *shellcmd.Word) bool { return v.Value == w.Value }):
		case strings.HasPrefix(script, "w"), strings.HasPrefix(script, "x"), strings.HasPrefix(script, "up"), strings.HasPrefix(script, "sav"), strings.Contains(script, "ZZ"), strings.Contains(script, "|"):
			return false
		}
	}
	return !a.has("S", "s") && !c.Stdin.Known
}

// extracted are the files that an archiver writes: the members that it is
// given, and everything below the directory that it is sent to.
func (c *Call) extracted(name string) []target {
	var out []target
	var dirs []*shellcmd.Word
	var members []shellcmd.Word
	if name == "unzip" {
		a := c.parse("dxP")
		if a.has("l", "t", "v", "Z", "p", "z") {
			return nil
		}
		dirs = a.values("d")
		if len(a.operands) > 1 {
			members = a.operands[1:]
		}
	} else {
		if len(c.Args) < 2 {
			return nil
		}
		a := c.parse("CfIbTXgKNV", "directory", "file", "exclude", "files-from", "strip-components", "transform", "use-compress-program")
		first := c.Args[1].Value
		old := first != "" && first[0] != '-' // tar xf file
		if !a.has("x", "extract", "get") && !(old && strings.Contains(first, "x")) {
			file, ok := a.value("f", "file")
			if old && strings.Contains(first, "f") && len(a.operands) > 1 {
				file, ok = a.operands[1], true
			}
			if makes := a.has("c", "r", "u", "A", "create", "append", "update") || old && strings.ContainsAny(first, "cruA"); ok && makes {
				out = append(out, target{word: &file, path: file.Value, how: name})
			}
			return out
		}
		dirs = a.values("C", "directory")
		slices.SortStableFunc(dirs, func(a, b *shellcmd.Word) int { return a.Pos - b.Pos })
		members = a.operands
		if old {
			members = members[1:]
			if strings.Contains(first, "f") && len(members) > 0 {
				members = members[1:]
			}
		}
	}
	for _, dir := range dirs {
		out = append(out, target{word: dir, path: dir.Value, effect: writes, tree: true, how: name})
	}
	behind := 0
	for i := range members {
		m := &members[i]
		// tar puts a member where the last -C before it leads.
		for behind < len(dirs) && dirs[behind].Pos <= m.Pos {
			behind++
		}
		t := target{word: m, path: m.Value, effect: writes, how: name}
		if len(dirs) > 0 {
			t = below(*dirs[max(behind-1, 0)], m.Value, name)
		}
		t.tree = true
		out = append(out, t)
	}
	return out
}

// maxPatched bounds the file names that are read from a patch.
const maxPatched = 500

// patched are the files that a patch changes, with and without the first
// directory of the name, which -p takes off.
func patched(text string) []shellcmd.Word {
	var out []shellcmd.Word
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(line, "+++ ")
		if !ok {
			if name, ok = strings.CutPrefix(line, "--- "); !ok {
				continue
			}
		}
		name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
		if name == "" || name == "/dev/null" {
			continue
		}
		out = append(out, shellcmd.NewWord(name))
		if _, rest, ok := strings.Cut(name, "/"); ok {
			out = append(out, shellcmd.NewWord(rest))
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// sedWrites are the files that the command w and the flag w of s name.
func sedWrites(script string) []string {
	var out []string
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		for i := strings.Index(line, "w "); i >= 0; {
			if before := strings.TrimRight(line[:i], "gpiIeM0123456789"); before == "" || strings.ContainsRune(";{}/|#,!$@_%: ", rune(before[len(before)-1])) {
				out = append(out, strings.TrimSpace(line[i+2:]))
				break
			}
			next := strings.Index(line[i+2:], "w ")
			if next < 0 {
				break
			}
			i += 2 + next
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// awkWrites are the files that print > "file" names.
func awkWrites(program string) []string {
	var out []string
	for len(out) < maxPatched {
		i := strings.IndexByte(program, '>')
		if i < 0 {
			break
		}
		program = strings.TrimLeft(program[i+1:], "> \t(")
		if !strings.HasPrefix(program, `"`) {
			continue
		}
		file, _, ok := strings.Cut(program[1:], `"`)
		if !ok {
			break
		}
		out = append(out, file)
	}
	return out
}

// editorWrites are the files that w, wq and saveas of ed and vi name.
func editorWrites(script string) []string {
	var out []string
	for line := range strings.Lines(script) {
		line = strings.TrimLeft(strings.TrimSpace(line), ":%0123456789,$")
		for _, verb := range [...]string{"write!", "write", "saveas!", "saveas", "sav!", "sav", "wq!", "wq", "w!", "w"} {
			if file, ok := strings.CutPrefix(line, verb+" "); ok {
				if file = strings.TrimSpace(file); file != "" && file[0] != '!' {
					out = append(out, strings.TrimLeft(file, "> "))
				}
				break
			}
		}
		if len(out) >= maxPatched {
			break
		}
	}
	return out
}

// rsyncDeletes reports --delete and its forms: --del, --delete-after, …
func rsyncDeletes(a *args) bool {
	if a.has("n", "dry-run", "list-only") {
		return false
	}
	for _, f := range a.flags {
		name := f.name
		if name == "del" || strings.HasPrefix(name, "delete") && name != "delete-missing-args" {
			return true
		}
	}
	return false
}
