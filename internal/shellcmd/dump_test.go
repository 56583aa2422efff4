package shellcmd

import (
	"os"
	"strings"
	"testing"
)

func TestDump(t *testing.T) {
	src := os.Getenv("SRC")
	if f := os.Getenv("SRCFILE"); f != "" {
		b, _ := os.ReadFile(f)
		for _, l := range strings.Split(string(b), "\n") {
			dump(t, l)
		}
		return
	}
	if src == "" {
		t.Skip()
	}
	dump(t, src)
}

func dump(t *testing.T, src string) {
	l := Parse(src, Options{Dir: "/w"})
	t.Logf("### %s exact=%v limited=%v", src, l.Exact, l.Limited)
	for _, c := range l.Commands {
		var args []string
		for _, a := range c.Args {
			s := a.Value
			if !a.Static {
				s = "~" + s + "~"
			}
			args = append(args, s)
		}
		fl := ""
		if c.Remote {
			fl += "R"
		}
		if c.Container {
			fl += "C"
		}
		if c.Maybe {
			fl += "?"
		}
		if c.Inexact {
			fl += "~"
		}
		if c.Piped != nil {
			fl += "|" + c.Piped.Name()
		}
		var env []string
		for _, a := range c.Assigns {
			env = append(env, a.Name+"="+a.Value.Value)
		}
		t.Logf("   %q %s dir=%v via=%v in=%q env=%v", args, fl, c.Dir, c.Via, c.Stdin.Value, env)
	}
}
