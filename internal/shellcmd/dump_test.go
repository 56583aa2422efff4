package shellcmd

import (
	"os"
	"testing"
)

func TestDump(t *testing.T) {
	src := os.Getenv("SRC")
	if src == "" {
		t.Skip()
	}
	l := Parse(src, Options{Dir: "/w"})
	t.Logf("exact=%v limited=%v", l.Exact, l.Limited)
	for _, c := range l.Commands {
		var args []string
		for _, a := range c.Args {
			s := a.Value
			if !a.Static {
				s = "~" + s + "~"
			}
			args = append(args, s)
		}
		t.Logf("%q dir=%v via=%v maybe=%v in=%q", args, c.Dir, c.Via, c.Maybe, c.Stdin.Value)
	}
}
