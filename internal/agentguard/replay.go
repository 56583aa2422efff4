package agentguard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"sallyport/guards"
	"sallyport/internal/cli"
	"sallyport/internal/dirs"
	"sallyport/internal/shellcmd"
	"sallyport/internal/term"
)

// Bounds of a transcript line that is looked into.
const (
	maxTranscriptLine  = 8 << 20
	maxTranscriptDepth = 200
)

// Replayed is what the guards would have said about past sessions.
type Replayed struct {
	Transcripts int             `json:"transcripts"`
	Commands    int             `json:"commands"`
	Verdicts    map[string]int  `json:"verdicts"`
	Guards      []ReplayedGuard `json:"guards"`
}

// A ReplayedGuard counts what one guard would have stopped.
type ReplayedGuard struct {
	Name     string            `json:"name"`
	Verdicts map[string]int    `json:"verdicts"`
	Examples []ReplayedExample `json:"examples"`
}

// A ReplayedExample is one command that a guard would have stopped.
type ReplayedExample struct {
	Verdict string `json:"verdict"`
	Command string `json:"command"`
	Dir     string `json:"cwd"`
	Reason  string `json:"reason"`
}

// Replay judges the shell commands of session transcripts by the repositories
// as they are now. Without names it reads all transcripts of the person. It
// only reads.
func Replay(p *cli.Process, opt *Options, names []string, examples int, asJSON bool) error {
	files, err := transcripts(p, names)
	if err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	r := &Replayed{Verdicts: map[string]int{}}
	byName := map[string]*ReplayedGuard{}
	seen := map[string]bool{}
	sessions := map[string]*session{}
	var last *session
	defer func() {
		if last != nil {
			last.close()
		}
	}()
	for _, file := range files {
		r.Transcripts++
		err := eachCommand(file, func(command, dir string) {
			if seen[dir+"\x00"+command] {
				return
			}
			seen[dir+"\x00"+command] = true
			r.Commands++
			s := sessions[dir]
			if s == nil {
				s = newSession(p, opt, dir)
				sessions[dir] = s
			}
			if last != nil && last != s {
				last.close() // its interpreters start again when they are needed
			}
			last = s
			rep := guards.Run(s.input(command, shellcmd.Bash), s.all, s.world)
			r.Verdicts[rep.Verdict.String()]++
			for i := range rep.Results {
				res := &rep.Results[i]
				if res.Verdict == guards.Pass {
					continue
				}
				g := byName[res.Guard.Name]
				if g == nil {
					g = &ReplayedGuard{Name: res.Guard.Name, Verdicts: map[string]int{}}
					byName[res.Guard.Name] = g
				}
				g.Verdicts[res.Verdict.String()]++
				if len(g.Examples) < examples {
					g.Examples = append(g.Examples, ReplayedExample{res.Verdict.String(), Redact(cut(command, maxLogged)), dir, Redact(res.Reason(rep.Input.Inline))})
				}
			}
		})
		if err != nil {
			fmt.Fprintf(p.Stderr, "agent-guard: %s: %v\n", term.Clean(file, 300), err)
		}
	}
	for _, g := range byName {
		r.Guards = append(r.Guards, *g)
	}
	sort.Slice(r.Guards, func(i, j int) bool { return r.Guards[i].Name < r.Guards[j].Name })
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	fmt.Fprintf(p.Stdout, "%d commands in %d transcripts: %d deny, %d ask, %d warn\n", r.Commands, r.Transcripts, r.Verdicts["deny"], r.Verdicts["ask"], r.Verdicts["warn"])
	for _, g := range r.Guards {
		fmt.Fprintf(p.Stdout, "\n%s: %d deny, %d ask, %d warn\n", g.Name, g.Verdicts["deny"], g.Verdicts["ask"], g.Verdicts["warn"])
		for _, e := range g.Examples {
			fmt.Fprintf(p.Stdout, "  %-5s %s\n        in %s\n        %s\n", e.Verdict, term.Clean(e.Command, 200), term.Clean(e.Dir, 200), term.Clean(e.Reason, 500))
		}
	}
	return nil
}

// transcripts are the named files, the files in named directories, or all
// transcripts of Claude Code.
func transcripts(p *cli.Process, names []string) ([]string, error) {
	if len(names) == 0 {
		dir := p.Getenv("CLAUDE_CONFIG_DIR")
		if dir == "" {
			dir = filepath.Join(dirs.Home(p.Getenv), ".claude")
		}
		names = []string{filepath.Join(dir, "projects")}
		if _, err := os.Stat(names[0]); err != nil {
			return nil, fmt.Errorf("no transcripts: %w", err)
		}
	}
	var files []string
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir(), name)
		}
		st, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			files = append(files, name)
			continue
		}
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".jsonl") {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// eachCommand calls f for every shell command of a transcript. Lines that are
// too long, too deep or no JSON are passed over.
func eachCommand(file string, f func(command, dir string)) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if !strings.Contains(line, `"tool_use"`) || deeper(line, maxTranscriptDepth) || !gjson.Valid(line) {
			continue
		}
		dir := gjson.Get(line, "cwd").String()
		gjson.Get(line, "message.content").ForEach(func(_, block gjson.Result) bool {
			if block.Get("type").String() != "tool_use" {
				return true
			}
			switch block.Get("name").String() {
			case "Bash", "Monitor":
				if c := block.Get("input.command"); c.Type == gjson.String && c.String() != "" {
					f(c.String(), dir)
				}
			}
			return true
		})
	}
}

// readLine reads a line; one that is too long comes back empty.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	over := false
	for {
		part, err := r.ReadSlice('\n')
		if b.Len()+len(part) > maxTranscriptLine {
			over = true
			b.Reset()
		}
		if !over {
			b.Write(part)
		}
		switch {
		case err == nil, errors.Is(err, io.EOF) && (b.Len() > 0 || over):
			return b.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// deeper reports whether more than n brackets are open at once outside of
// strings.
func deeper(s string, n int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i] == '{' || s[i] == '[':
			if depth++; depth > n {
				return true
			}
		case s[i] == '}' || s[i] == ']':
			depth--
		}
	}
	return false
}
