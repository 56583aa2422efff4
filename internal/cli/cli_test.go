package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name     string
		args     []string
		prefix   bool
		operands []string
		mode     string
		dry      bool
		err      string
	}{
		{name: "flags before operands", args: []string{"--mode", "a", "x"}, operands: []string{"x"}, mode: "a"},
		{name: "flags after operands", args: []string{"x", "--mode=b", "--dry"}, operands: []string{"x"}, mode: "b", dry: true},
		{name: "a bool takes no value", args: []string{"--dry", "x"}, operands: []string{"x"}, dry: true},
		{name: "double dash ends flags", args: []string{"x", "--", "--dry"}, operands: []string{"x", "--dry"}},
		{name: "double dash can be a value", args: []string{"--mode", "--", "--dry"}, mode: "--", dry: true},
		{name: "a lone dash is an operand", args: []string{"-"}, operands: []string{"-"}},
		{name: "unknown flag", args: []string{"--nope"}, err: "flag provided but not defined"},
		{name: "value missing", args: []string{"--mode"}, err: "needs an argument"},
		{name: "the rest is another program's", args: []string{"--dry", "prog", "--mode", "x"}, prefix: true, operands: []string{"prog", "--mode", "x"}, dry: true},
		{name: "double dash before the program", args: []string{"--", "--prog"}, prefix: true, operands: []string{"--prog"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fs := NewFlags("x")
			mode := fs.String("mode", "", "")
			dry := fs.Bool("dry", false, "")
			f := Parse
			if tt.prefix {
				f = ParsePrefix
			}
			got, err := f(fs, tt.args)
			if tt.err != "" {
				var usage *UsageError
				if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Parse(%q) error = %v, want a usage error with %q", tt.args, err, tt.err)
				}
				return
			}
			if err != nil || !slices.Equal(got, tt.operands) || *mode != tt.mode || *dry != tt.dry {
				t.Errorf("Parse(%q) = %q mode %q dry %v error %v, want %q mode %q dry %v", tt.args, got, *mode, *dry, err, tt.operands, tt.mode, tt.dry)
			}
		})
	}
}

func TestParseHelpAndVersion(t *testing.T) {
	for args, want := range map[string]error{"--help": ErrHelp, "-h": ErrHelp, "--version": ErrVersion} {
		if _, err := Parse(NewFlags("x"), []string{args}); !errors.Is(err, want) {
			t.Errorf("Parse(%s) error = %v, want %v", args, err, want)
		}
	}
}

func TestGuardedSwallowsAPanic(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := &Process{Name: "x", Stdout: &stdout, Stderr: &stderr}
	if code := p.Guarded(func() int { panic("boom") }); code != 0 || stdout.Len()+stderr.Len() != 0 {
		t.Errorf("code %d stdout %q stderr %q, want 0 and silence", code, &stdout, &stderr)
	}
	p.Environ = []string{"SALLYPORT_DEBUG=1"}
	p.Guarded(func() int { panic("boom") })
	if !strings.Contains(stderr.String(), "panic: boom") {
		t.Errorf("stderr %q does not name the panic under SALLYPORT_DEBUG=1", &stderr)
	}
}

func TestFinish(t *testing.T) {
	tests := []struct {
		err            error
		code           int
		stdout, stderr string
	}{
		{nil, 0, "", ""},
		{ErrHelp, 0, "manual\n", ""},
		{Usagef("no such flag"), ExitUsage, "", "prog: no such flag\n\nmanual\n"},
		{Exitf(3, "refused"), 3, "", "prog: refused\n"},
		{&ExitError{Code: 4}, 4, "", ""},
		{errors.New("plain"), 1, "", "prog: plain\n"},
	}
	for _, tt := range tests {
		var stdout, stderr bytes.Buffer
		p := &Process{Stdout: &stdout, Stderr: &stderr}
		code := p.Finish("prog", "manual\n", tt.err)
		if code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
			t.Errorf("Finish(%v) = %d, %q, %q; want %d, %q, %q", tt.err, code, &stdout, &stderr, tt.code, tt.stdout, tt.stderr)
		}
	}
}
