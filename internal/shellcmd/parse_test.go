package shellcmd

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// render writes a command in a short form: words quoted where needed, unknown
// pieces as <name>, then flags.
func render(c *Command) string {
	var words []string
	for _, a := range c.Args {
		words = append(words, renderWord(a))
	}
	return strings.Join(words, " ")
}

func renderWord(a Word) string {
	if a.Static {
		return quoteShell(a.Value)
	}
	var b strings.Builder
	for _, p := range a.Parts {
		switch p.Kind {
		case Literal, Glob, Tilde:
			b.WriteString(p.Text)
		case Variable:
			b.WriteString("<" + p.Text + ">")
		case Substitution:
			b.WriteString("<$>")
		default:
			b.WriteString("<?>")
		}
	}
	return b.String()
}

func rendered(l *Line) []string {
	var out []string
	for _, c := range l.Commands {
		out = append(out, render(c))
	}
	return out
}

func TestParse(t *testing.T) {
	env := map[string]string{"HOME": "/home/dev", "EMPTY": ""}
	tests := []struct {
		why, src string
		want     []string
	}{
		// What the shell would run.
		{"an empty line runs nothing", " \n\t", nil},
		{"a comment runs nothing", "# git commit -n", nil},
		{"an assignment alone runs nothing", "X=git", nil},
		{"a function that is not called runs nothing", "f() { git commit -n; }", nil},
		{"a function that is called shows its body, not its call", "f() { git commit \"$@\"; }; f -n", []string{"git commit -n"}},
		{"a function may hide a program", "git() { echo \"$@\"; }; git commit -n", []string{"echo commit -n"}},
		{"a program may be hidden in some branch only", "if a; then git() { b; }; fi; git c", []string{"a", "b", "git c"}},
		{"command bypasses functions", "git() { command git \"$@\"; }; git x", []string{"command git x", "git x"}},
		{"a redirection alone truncates", "> f", []string{":"}},
		{"a subshell in arithmetic runs", "echo $(( $(git a) + 1 ))", []string{"git a", "echo <?>"}},
		{"an array index runs", "x[$(git a)]=1", []string{"git a"}},
		{"a case word runs", "case $(git a) in b) c;; esac", []string{"git a", "c"}},
		{"a test runs its substitutions", "[[ -n $(git a) || $(git b) == c ]]", []string{"git a", "git b"}},
		{"a here-document runs its substitutions", "cat <<E\n$(git a)\nE", []string{"git a", "cat"}},
		{"a quoted here-document does not", "cat <<'E'\n$(git a)\nE", []string{"cat"}},
		{"so too if a part of the delimiter is quoted", "cat <<'E'OF\n$(git a)\nEOF", []string{"cat"}},
		{"text in single quotes is text", "echo '$(git a)' \"\\$(git b)\"", []string{"echo '$(git a)' '$(git b)'"}},
		{"a trap runs later", "trap 'git a' EXIT", []string{"trap 'git a' EXIT", "git a"}},
		{"trap - resets", "trap - EXIT", []string{"trap - EXIT"}},
		{"an alias takes effect on later lines", "alias gc='git commit'\ngc -n", []string{"alias 'gc=git commit'", "git commit -n", "gc -n"}},
		{"aliases may loop", "alias a=b b=a\na", []string{"alias a=b b=a", "a", "b", "a"}},
		{"a loop bound to its list", "for i in 1 2; do git $i; done", []string{"git 1", "git 2"}},
		{"the same command is listed once", "for i in 1 2; do git x; done", []string{"git x"}},
		{"a body may use what its end sets", "X=true; for i in 1 2; do $X a; X=git; done", []string{"true a", "git a"}},

		// Words.
		{"globs stay marked", "rm -rf *.o a[bc]? \"*\"", []string{"rm -rf *.o a[bc]? '*'"}},
		{"a static variable splits and globs", "X='a *'; rm $X", []string{"rm a *"}},
		{"home is known from the environment", "rm -rf ~/x \"$HOME/y\" ~", []string{"rm -rf /home/dev/x /home/dev/y /home/dev"}},
		{"another user's home is not", "rm -rf ~root/x", []string{"rm -rf ~root/x"}},
		{"an unknown variable", "rm -rf $BUILD/*", []string{"rm -rf <BUILD>/*"}},
		{"an empty variable of the environment", "rm -rf \"$EMPTY\"/x", []string{"rm -rf /x"}},
		{"the default of an unknown variable", "rm -rf ${BUILD:-out}/x", []string{"rm -rf out/x"}},
		{"a variable from a read", "read x; git $x", []string{"read x", "git <x>"}},
		{"the random number", "git $RANDOM", []string{"git <RANDOM>"}},
		{"both values of a branch", "X=a; if c; then X=b; fi; git $X", []string{"c", "git b", "git a"}},
		{"two variables with two values each", "a && X=1 && Y=2; git \"$X\" \"$Y\"", []string{"a", "git 1 2", "git 1 ''", "git '' 2", "git '' ''"}},
		{"no word for an empty expansion", "X=; git $X a $X", []string{"git a"}},
		{"positional parameters of the line are none", "git \"$@\" $1", []string{"git"}},
		{"the last argument of the command before", "true git; $_ commit", []string{"true git", "git commit"}},
		{"indirection", "X=git; Y=X; ${!Y} a", []string{"git a"}},
		{"zsh's =command", "=git commit", []string{"=git commit"}},
		{"NBSP is no blank", "git\u00a0commit -n", []string{"git\u00a0commit -n"}},
		{"invalid UTF-8 is kept", "git commit -m 'caf\xe9' -n", []string{"git commit -m caf\xe9 -n"}},
		{"bytes of $'…' make UTF-8", `git $'\xc3\xa9'`, []string{"git é"}},
		{"a byte order mark is no part of the word", "\ufeffgit commit", []string{"git commit"}},
		{"CRLF ends lines", "git a\r\ngit b\r\n", []string{"git a", "git b"}},
		{"NUL bytes are ignored, as bash does", "gi\x00t a", []string{"git a"}},

		// Text that flows.
		{"echo into a shell", "echo git a | sh", []string{"echo git a", "sh", "git a"}},
		{"echo -n keeps the words", "echo -n git a | sh", []string{"echo -n git a", "sh", "git a"}},
		{"printf repeats its format", "printf 'git %s;' a b | sh", []string{"printf 'git %s;' a b", "sh", "git a", "git b"}},
		{"unknown pieces are carried along", "echo \"git commit -n -m '$M'\" | sh", []string{"echo git commit -n -m '<M>'", "sh", "git commit -n -m <M>"}},
		{"text that is all unknown is no command", "cat x | sh", []string{"cat x", "sh"}},
		{"a file written before is run", "cat > s <<'E'\ngit a\nE\nsh s", []string{"cat", "sh s", "git a"}},
		{"a file under an unknown name too", "F=$(mktemp); echo git a > $F; sh $F", []string{"mktemp", "echo git a", "sh <$>", "git a"}},
		{"a file that a branch may change has both texts", "echo git a > s; c && echo git b > s; sh s", []string{"echo git a", "c", "echo git b", "sh s", "git b", "git a"}},
		{"a removed file has none", "echo git a > s; rm s; sh s", []string{"echo git a", "rm s", "sh s"}},
		{"a file in another directory is another file", "echo git a > s; cd d; sh s", []string{"echo git a", "cd d", "sh s"}},
		{"read takes a line", "echo git a | while read -r p q; do $p $q; done", []string{"echo git a", "read -r p q", "git a"}},
		{"a substitution of a file", "echo git > f; $(<f) a; $(cat f) b", []string{"echo git", "git a", "cat f", "git b"}},
		{"tee keeps and passes on", "echo git a | tee f | sh; sh f", []string{"echo git a", "tee f", "sh", "git a", "sh f", "git a"}},

		// Other shells' text within.
		{"cmd", `cmd /c "git a && git b"`, []string{"cmd /c 'git a && git b'", "git a", "git b"}},
		{"a here-document for python", "python3 - <<'E'\nimport os\nos.system('git a')\nE", []string{"python3 -", "git a"}},
		{"an f-string", "python3 -c 'import os; os.system(f\"git commit -n -m {m}\")'", []string{"python3 -c 'import os; os.system(f\"git commit -n -m {m}\")'", "git commit -n -m <m>"}},
		{"printing is not running", "python3 -c 'print(\"git a\")'", []string{"python3 -c 'print(\"git a\")'"}},
		{"a comment is not code", "python3 -c '# os.system(\"git a\")'", []string{"python3 -c '# os.system(\"git a\")'"}},
		{"a tree deleted by python", "python3 -c 'import shutil; shutil.rmtree(\"/srv/x\")'", []string{"python3 -c 'import shutil; shutil.rmtree(\"/srv/x\")'", "rm -rf -- /srv/x"}},
		{"rm of node needs recursive", "node -e 'fs.rmSync(\"a\")'", []string{"node -e 'fs.rmSync(\"a\")'"}},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{Dir: "/w", Env: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
		if got := rendered(l); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.why, tt.src, got, tt.want)
		}
		if l.Limited {
			t.Errorf("%s: %q is limited", tt.why, tt.src)
		}
	}
}

func TestInexact(t *testing.T) {
	tests := []struct {
		why, src string
		want     []string // inexact ones begin with ~
	}{
		{"statements before the error are exact", "git a\necho \"b", []string{"git a", "~echo b"}},
		{"what follows is split", "git a\n)\ngit b; git c -n", []string{"git a", "~git b", "~git c -n"}},
		{"quotes and separators hold", "fi; git commit -m 'a; b' && git push", []string{"~git commit -m 'a; b'", "~git push"}},
		{"substitutions are split out of strings", "fi; git -m \"a $(git b) c\" -n", []string{"~git b", "~git -m a <$> c -n"}},
		{"wrappers are looked through", "fi; sudo git a", []string{"~sudo git a", "~git a"}},
		{"here-documents are skipped", "fi; cat <<E\ngit a\nE\ngit b", []string{"~cat", "~git b"}},
		{"comments are skipped", "fi\n# git a\ngit b", []string{"~git b"}},
		{"variables are followed", "fi; X=git; $X a", []string{"~git a"}},
		{"keywords are no programs", "then git a; do git b", []string{"~git a", "~git b"}},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{Dir: "/w"})
		var got []string
		for _, c := range l.Commands {
			s := render(c)
			if c.Inexact {
				s = "~" + s
			}
			got = append(got, s)
		}
		if !slices.Equal(got, tt.want) || l.Exact {
			t.Errorf("%s: %q\n got %q (exact %v)\nwant %q", tt.why, tt.src, got, l.Exact, tt.want)
		}
	}
}

func TestForeignShells(t *testing.T) {
	tests := []struct {
		why     string
		dialect Dialect
		src     string
		want    []string
	}{
		{"statements", PowerShell, "git add .; git commit -n | Out-Null\ngit push", []string{"git add .", "git commit -n", "Out-Null", "git push"}},
		{"the call operator and a quoted path", PowerShell, `& 'C:\Program Files\Git\bin\git.exe' commit -n`, []string{`'C:\Program Files\Git\bin\git.exe' commit -n`}},
		{"the backtick escapes", PowerShell, "g`it commit `\n -n", []string{"git commit -n"}},
		{"doubled quotes", PowerShell, `git commit -m 'it''s' -m "a""b"`, []string{`git commit -m 'it'\''s' -m 'a"b'`}},
		{"Invoke-Expression", PowerShell, `iex "git commit -n"`, []string{"iex 'git commit -n'", "git commit -n"}},
		{"variables", PowerShell, "$g = 'git'; & $g commit; $env:HUSKY = '0'; git x", []string{"git commit", "git x"}},
		{"a here-string", PowerShell, "git commit -m @'\nCo-Authored-By: x\n'@", []string{"git commit -m 'Co-Authored-By: x'"}},
		{"Start-Process", PowerShell, "Start-Process git -ArgumentList 'commit','-n' -Wait", []string{"Start-Process git -ArgumentList commit -n -Wait", "git commit -n"}},
		{"a comment", PowerShell, "git a # git b\n<# git c #> git d", []string{"git a", "git d"}},
		{"another shell", PowerShell, `cmd /c "git a & git b"`, []string{"cmd /c 'git a & git b'", "git a", "git b"}},
		{"encoded", PowerShell, "powershell -enc ZwBpAHQAIABhAA==", []string{"powershell -enc ZwBpAHQAIABhAA==", "git a"}},
		{"lists", Cmd, "git a && git b & git c | more", []string{"git a", "git b", "git c", "more"}},
		{"the caret escapes", Cmd, "g^it commit -m \"a & b\"", []string{"git commit -m 'a & b'"}},
		{"comments", Cmd, "rem git a\r\n:: git b\r\n@git c", []string{"git c"}},
		{"variables", Cmd, "set X=git\n%X% a", []string{"set X=git", "git a"}},
		{"call and start", Cmd, "call git a & start \"\" /b git b", []string{"git a", "git b"}},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{Dir: `C:\w`, Dialect: tt.dialect})
		if got := rendered(l); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.why, tt.src, got, tt.want)
		}
		for _, c := range l.Commands {
			if !c.Inexact {
				t.Errorf("%s: %q: %q is exact", tt.why, tt.src, render(c))
			}
		}
	}
}

func TestDirectories(t *testing.T) {
	const unknown = "?"
	tests := []struct {
		why, src string
		want     []string // directories of the git commands
	}{
		{"the start", "git a", []string{"/w"}},
		{"relative, up, absolute", "cd a/b; git x; cd ..; git x; cd /z; git x", []string{"/w/a/b", "/w/a", "/z"}},
		{"&& makes it certain", "cd a && git x", []string{"/w/a"}},
		{"|| runs where it began", "cd a || git x", []string{"/w"}},
		{"|| exit", "cd a || exit 1; git x", []string{"/w/a"}},
		{"a branch leaves both", "t && cd a; git x", []string{"/w/a", "/w"}},
		{"a subshell keeps its own", "(cd a; git x); git y", []string{"/w/a", "/w"}},
		{"so do pipes, jobs, substitutions", "cd a | t; cd b & t; t $(cd c); git x", []string{"/w"}},
		{"an unknown directory", "cd $UNKNOWN && git x; cd /z; git y", []string{unknown, "/z"}},
		{"relative to an unknown one", "cd \"$(t)\"; cd sub; git x", []string{unknown}},
		{"back from an unknown one", "cd $UNKNOWN; cd -; git x", []string{"/w"}},
		{"|| after a group with a cd", "{ cd a && git x; } || git y", []string{"/w/a", "/w/a", "/w"}},
		{"if cd", "if cd a; then git x; else git y; fi; git z", []string{"/w/a", "/w", "/w/a", "/w"}},
		{"if ! cd", "if ! cd a; then git x; exit; fi; git z", []string{"/w", "/w/a"}},
		{"the stack", "pushd a; pushd b; git x; popd; git y; popd; git z", []string{"/w/a/b", "/w/a", "/w"}},
		{"env -C and sudo -D", "env -C a git x; sudo -D /b git y", []string{"/w/a", "/b"}},
		{"a nested shell keeps its own", "bash -c 'cd a; git x'; git y", []string{"/w/a", "/w"}},
		{"eval does not", "eval 'cd a'; git x", []string{"/w/a"}},
		{"nor a function", "f() { cd a; }; f; git x", []string{"/w/a"}},
		{"CDPATH may lead elsewhere", "CDPATH=/q; cd a; git x; cd ./b; git y", []string{unknown, unknown}},
		{"HOME", "cd; git x; cd ~/p; git y", []string{"/h", "/h/p"}},
		{"cd - and $OLDPWD", "cd a; cd -; git x; cd $OLDPWD; git y", []string{"/w", "/w/a"}},
		{"find -execdir goes elsewhere", "find . -execdir git x \\;", []string{unknown}},
		{"another host", "ssh h git x", []string{unknown}},
		{"PWD", "cd a; git -C $PWD x; cd $PWD/b; git y", []string{"/w/a", "/w/a/b"}},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{Dir: "/w", Env: func(n string) (string, bool) { return "/h", n == "HOME" }})
		var got []string
		for _, c := range l.Commands {
			if c.Name() == "git" {
				d := c.Dir.Path
				if c.Dir.Unknown {
					d = unknown
				}
				got = append(got, d)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.why, tt.src, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		why, src, want string // of the last command; inline ones have a star
	}{
		{"leading", "A=1 B=2 git x", "A=1* B=2*"},
		{"not a neighbour's", "A=1 true && git x", ""},
		{"not a plain variable", "A=1; git x", ""},
		{"exported", "export A=1; git x", "A=1"},
		{"exported later", "A=1; export A; git x", "A=1"},
		{"changed after the export", "export A=1; A=2; git x", "A=2"},
		{"export -n", "export A=1; export -n A; git x", ""},
		{"unset", "export A=1; unset A; git x", ""},
		{"declare -x", "declare -x A=1; git x", "A=1"},
		{"set -a", "set -a; A=1; git x", "A=1"},
		{"set -o allexport", "set -o allexport; A=1; git x", "A=1"},
		{"env", "env A=1 git x", "A=1*"},
		{"env -i drops", "A=1 env -i B=2 git x", "B=2*"},
		{"env -u drops one", "A=1 B=2 env -u A git x", "B=2*"},
		{"sudo with an assignment", "sudo A=1 git x", "A=1*"},
		{"into a nested shell", "A=1 bash -c 'git x'", "A=1"},
		{"a subshell's export ends with it", "(export A=1); git x", ""},
		{"the innermost wins last", "export A=1; A=2 git x", "A=1 A=2*"},
		{"docker exec -e", "docker exec -e A=1 c git x", "A=1*"},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{})
		c := l.Commands[len(l.Commands)-1]
		var got []string
		for _, a := range c.Assigns {
			s := a.Name + "=" + a.Value.Value
			if a.Inline {
				s += "*"
			}
			got = append(got, s)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: %q has %q, want %q", tt.why, tt.src, g, tt.want)
		}
	}
}

func TestPositions(t *testing.T) {
	tests := []struct{ why, src, word, at string }{
		{"a plain word", "x; git commit -n", "-n", "-n"},
		{"a quoted word", `git commit "-n" x`, "-n", `"-n"`},
		{"in a nested shell's text", `bash -c 'git commit -n'`, "-n", "-n"},
		{"in an eval", `eval "git commit -n"`, "-n", "-n"},
		{"in a here-document", "sh <<'E'\ngit commit -n\nE", "-n", ""},
		{"through a wrapper", "sudo git commit -n", "-n", "-n"},
		{"a variable", "X=-n; git commit $X", "-n", "$X"},
		{"behind invalid UTF-8", "a \xff\xfe; git -n", "-n", "-n"},
		{"behind a byte order mark", "\ufeffgit -n", "-n", "-n"},
		{"after a syntax error", "fi; git -n", "-n", "-n"},
		{"text with no place of its own", `eval "git co""mmit -n"`, "-n", ""},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{})
		found := false
		for _, c := range l.Commands {
			for _, a := range c.Args {
				if a.Value == tt.word && c.Name() == "git" {
					found = true
					if got := tt.src[a.Pos:a.End]; got != tt.at {
						t.Errorf("%s: %q: the word is at %q, want %q", tt.why, tt.src, got, tt.at)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: %q has no word %q", tt.why, tt.src, tt.word)
		}
	}
}

func TestMarkers(t *testing.T) {
	l := Parse("ssh h 'git a'; docker run i git b; c && git d; f() { git e; }; f; curl u | sudo sh; bash -c \"$(curl v)\"; sh <(curl w); X=$(curl q); eval \"$X\"", Options{})
	by := map[string]*Command{}
	for _, c := range l.Commands {
		by[render(c)] = c
	}
	if c := by["git a"]; c == nil || !c.Remote || c.Container {
		t.Errorf("ssh: %+v", c)
	}
	if c := by["git b"]; c == nil || !c.Container || c.Remote {
		t.Errorf("docker: %+v", c)
	}
	if c := by["git d"]; c == nil || !c.Maybe {
		t.Errorf("&&: %+v", c)
	}
	if c := by["git e"]; c == nil || c.Function != "f" {
		t.Errorf("function: %+v", c)
	}
	if c := by["sh"]; c == nil || c.Piped == nil || c.Piped.Name() != "curl" || c.Stdin.Known || len(c.Stdin.From) != 1 || c.Stdin.From[0].Name() != "curl" {
		t.Errorf("pipe: %+v", c)
	}
	if c := by["bash -c <$>"]; c == nil || len(c.Args[2].From()) != 1 || c.Args[2].From()[0].Name() != "curl" {
		t.Errorf("substitution: %+v", c)
	}
	if c := by["sh <$>"]; c == nil || len(c.Args[1].From()) != 1 || c.Args[1].From()[0].Name() != "curl" {
		t.Errorf("process substitution: %+v", c)
	}
	if c := by["eval <$>"]; c == nil || len(c.Args[1].From()) != 1 {
		t.Errorf("variable: %+v", c)
	}
}

func TestFile(t *testing.T) {
	tests := []struct {
		why, src, file string
		want           string
		known, ok      bool
	}{
		{"written by a here-document", "cat > m <<E\nhi\nE\ngit commit -F m", "m", "hi\n", true, true},
		{"appended", "echo a > m; echo b >> m; git x", "./m", "a\nb\n", true, true},
		{"after a cd", "echo a > m; cd d; git x", "../m", "a\n", true, true},
		{"not yet written", "git x; echo a > m", "m", "", false, false},
		{"downloaded", "curl -o m u; git x", "m", "", false, true},
		{"by a branch", "echo a > m; t && echo b > m; git x", "m", "b\n\na\n", true, true},
		{"copied", "echo a > m; cp m n; git x", "n", "a\n", true, true},
		{"another file", "echo a > m; git x", "o", "", false, false},
	}
	for _, tt := range tests {
		l := Parse(tt.src, Options{Dir: "/w"})
		var git *Command
		for _, c := range l.Commands {
			if c.Name() == "git" {
				git = c
			}
		}
		got, ok := git.File(NewWord(tt.file))
		if got.Value != tt.want || got.Known != tt.known || ok != tt.ok {
			t.Errorf("%s: %q: %s is %+v, %v; want %q, %v, %v", tt.why, tt.src, tt.file, got, ok, tt.want, tt.known, tt.ok)
		}
	}
}

// TestParseNested adds what a guard knows of: here an alias of git.
func TestParseNested(t *testing.T) {
	l := Parse("cd d; A=1 git -c alias.x='!git push \"$1\" && rm -rf /' x -f", Options{Dir: "/w"})
	git := l.Commands[1]
	text, ok := git.Args[2].After("alias.x=!")
	if !ok {
		t.Fatalf("After: %+v", git.Args[2])
	}
	got := l.ParseNested(git, text, git.Args[4:], "git x")
	if len(got) != 2 || render(got[0]) != "git push -f" || got[0].Dir.Path != "/w/d" || len(got[0].Assigns) != 1 {
		t.Errorf("ParseNested: %q", rendered(&Line{Commands: got}))
	}
	if len(l.Commands) != 4 || len(got[0].Via) == 0 || got[0].Via[0].Name != "git x" {
		t.Errorf("commands %q, via %v", rendered(l), got[0].Via)
	}
}

type files map[string]string

func (f files) ReadFile(path string, limit int) ([]byte, bool) {
	s, ok := f[path]
	return []byte(s), ok && len(s) <= limit
}

func TestScripts(t *testing.T) {
	fs := files{"/w/s.sh": "#!/bin/sh\ngit a \"$1\"\n", "/w/p": "#!/usr/bin/env python3\nimport os\nos.system('git b')\n", "/w/bin": "\x7fELF\x00"}
	tests := []struct {
		src  string
		want []string
	}{
		{"./s.sh x", []string{"./s.sh x", "git a x"}},
		{"bash s.sh x", []string{"bash s.sh x", "git a x"}},
		{". ./s.sh x", []string{". ./s.sh x", "git a x"}},
		{"bash < s.sh", []string{"bash"}},
		{"./p", []string{"./p", "git b"}},
		{"python3 p", []string{"python3 p", "git b"}},
		{"./bin", []string{"./bin"}},
		{"ssh h ./s.sh", []string{"ssh h ./s.sh", "./s.sh"}},
	}
	for _, tt := range tests {
		if got := rendered(Parse(tt.src, Options{Dir: "/w", FS: fs})); !slices.Equal(got, tt.want) {
			t.Errorf("%q\n got %q\nwant %q", tt.src, got, tt.want)
		}
	}
}

// TestEvasions reads ways to write "git commit -n" that must be seen.
func TestEvasions(t *testing.T) {
	data, err := os.ReadFile("testdata/evasions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for src := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		src = strings.ReplaceAll(src, "␊", "\n")
		if src == "" || strings.HasPrefix(src, "## ") {
			continue
		}
		found := false
		for _, c := range Parse(src, Options{Dir: "/w"}).Commands {
			if c.MayName("git") && len(c.Args) > 2 && c.Args[1].Value == "commit" {
				for _, a := range c.Args[2:] {
					found = found || a.Value == "-n" || a.Value == "--no-verify"
				}
			}
		}
		if !found {
			t.Errorf("not seen: %s", src)
		}
	}
}

// TestWrapperTable: wrapperFor searches it by halves, and an entry must not be
// hidden by a case of runner.
func TestWrapperTable(t *testing.T) {
	for i := 1; i < len(wrappers); i++ {
		if wrappers[i-1].name >= wrappers[i].name {
			t.Errorf("%q stands before %q", wrappers[i-1].name, wrappers[i].name)
		}
	}
	for i := range wrappers {
		if wrapperFor(wrappers[i].name) != &wrappers[i] {
			t.Errorf("%q is not found", wrappers[i].name)
		}
		if isShell(wrappers[i].name) || interpreterFor(wrappers[i].name) != nil {
			t.Errorf("%q is a shell or interpreter as well", wrappers[i].name)
		}
	}
}

func TestForkBomb(t *testing.T) {
	for src, want := range map[string]bool{
		":(){ :|:& };:":                        true,
		"f() { f & f; }; f":                    true,
		"f() { (f | f) & }; f":                 true,
		"bash -c 'b() { b | b & }; b'":         true,
		"f() { f; }; f":                        false,
		"f() { g | h; }; f | f":                false,
		":() { :|:& }":                         false,
		"f() { ls | sort; }; f & f &":          false,
		"d() { for x; do d $x; done; }; d a b": false,
	} {
		if got := Parse(src, Options{}).ForkBomb; got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, src := range []string{
		`git commit -m "docs: never pass git commit -n"`,
		`echo "git commit -n"`,
		`grep -rn 'git commit -n' .`,
		"cat > HOOKS.md <<'EOF'\ngit commit -n\nEOF",
		"cat <<EOF | tee notes | wc -l\ngit commit -n\nEOF",
		`printf 'git commit -n\n' >> notes`,
		`X='git commit -n'; echo "$X"`,
		`# git commit -n`,
		`gh pr comment 5 --body 'use git commit -n'`,
		`sed -n 's/git commit -n//p' f`,
		`awk '/git commit -n/ { print }' f`,
		`python3 -c 'print("git commit -n")'`,
		`git log --grep='git commit -n'`,
		`alias x='git commit -n'`,
		`f() { git commit -n; }`,
		`test "$X" = 'git commit -n'`,
		`[[ $X == 'git commit -n' ]]`,
		`case $X in 'git commit -n') ;; esac`,
		`jq '.x == "git commit -n"' f`,
		`bash -n -c`,
		`echo 'git commit -n' | grep git`,
		`echo 'git commit -n' > s.sh; cat s.sh`,
		`cat > t.py <<'E'` + "\nos.system('git commit -n')\nE",
		`ssh-add; ssh-keygen -C 'git commit -n'`,
		`docker build -t 'git commit -n' .`,
		`node -e 'console.log("git commit -n")'`,
		`perl -ne 'print if /git commit -n/' f`,
		`command -v git commit -n`,
		`type git commit -n`,
		`find . -name 'git commit -n'`,
		`xargs echo git commit -n < f`,
		`man git commit -n`,
		`: git commit -n`,
		`true || : 'git commit -n'`,
	} {
		for _, c := range Parse(src, Options{Dir: "/w"}).Commands {
			if c.MayName("git") && len(c.Args) > 2 && c.Args[1].Value == "commit" && (c.Args[2].Value == "-n" || c.Args[2].Value == "--no-verify") {
				t.Errorf("%s: taken for a command, via %v", src, c.Via)
			}
		}
	}
}
