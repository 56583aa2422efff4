package guards

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxBomb bounds the text that is parsed again to look for a fork bomb.
const maxBomb = 8 << 10

// forkBomb looks for a fork bomb in the text of a nested shell: a function that
// starts itself at least twice, one of them in a pipe or in the background, and
// is called.
func forkBomb(c *Call) []Finding {
	if kind, ok := interpreter(c.Name()); ok && kind == "shell" {
		for _, w := range c.Args[1:] {
			if f := forkBombLine(w.Value); f != nil {
				return f
			}
		}
	}
	return nil
}

func forkBombLine(source string) []Finding {
	name := bombIn(source)
	if name == "" {
		return nil
	}
	return []Finding{{
		Verdict: Deny,
		Found:   "function " + Quote(name) + " that keeps starting itself twice",
		Why:     "a fork bomb stops the machine",
		Fix:     "Start a fixed number of processes, with `xargs -P 4` for one",
		Words:   []string{name},
	}}
}

func bombIn(source string) (name string) {
	if len(source) > maxBomb || !strings.Contains(source, "(") || !strings.Contains(source, "{") || !strings.ContainsAny(source, "|&") {
		return ""
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	if err != nil {
		return ""
	}
	calls := map[string]int{} // outside of the function itself
	bombs := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil && isBomb(n) {
				bombs[n.Name.Value] = true
				return false
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				calls[n.Args[0].Lit()]++
			}
		}
		return true
	})
	for name := range bombs {
		if calls[name] > 0 {
			return name
		}
	}
	return ""
}

func isBomb(f *syntax.FuncDecl) bool {
	own, spread := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == f.Name.Value {
				own++
			}
		case *syntax.Stmt:
			spread = spread || n.Background
		case *syntax.BinaryCmd:
			spread = spread || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	return own >= 2 && spread
}
