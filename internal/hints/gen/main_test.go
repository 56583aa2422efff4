package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What go generate makes is committed: it must be what the catalogue says now.
func TestOutputsAreInStep(t *testing.T) {
	specs, err := load(filepath.Join("..", source))
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range outputs {
		want, err := out.render(specs)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(out.path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
			t.Errorf("%s is out of step with %s: run go generate ./internal/hints", out.path, source)
		}
	}
}

func TestPageHasEveryAnchor(t *testing.T) {
	specs, err := load(filepath.Join("..", source))
	if err != nil {
		t.Fatal(err)
	}
	page, _ := markdown(specs)
	for _, s := range specs {
		for _, want := range []string{`<a id="` + s.ID + `"></a>`, "(#" + s.ID + ")", s.Positives[0]} {
			if !strings.Contains(string(page), want) {
				t.Errorf("the page lacks %q", want)
			}
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", source))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, broken := range map[string]string{
		"a broken expression":            strings.Replace(text, `signatures = ['bwrap: loopback: Failed (?:`, `signatures = ['bwrap: loopback: Failed (`+"?<", 1),
		"a positive that does not match": strings.Replace(text, `positives = ["bwrap: loopback: Failed RTM_NEWADDR`, `positives = ["bwrap: loop: Failed RTM_NEWADDR`, 1),
		"a negative that matches":        strings.Replace(text, `"RTM_NEWADDR is a netlink message type"`, `"bwrap: loopback: Failed RTM_NEWADDR"`, 1),
		"entries out of order":           strings.Replace(text, "order = 11", "order = 9", 1),
		"an unknown field":               strings.Replace(text, "order = 11", "ordre = 11", 1),
	} {
		if broken == text {
			t.Fatalf("%s: the catalogue has changed, mend this test", name)
		}
		path := filepath.Join(t.TempDir(), source)
		if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := load(path); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
