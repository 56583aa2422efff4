package gitcmd

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/internal/shellcmd"
)

// words makes static words; one that starts with "$" is a variable of unknown
// value, "#" in it parts a literal head from such a variable.
func words(argv ...string) []shellcmd.Word {
	var out []shellcmd.Word
	for _, a := range argv {
		switch head, name, mixed := strings.Cut(a, "#$"); {
		case strings.HasPrefix(a, "$"):
			out = append(out, parsed(a))
		case mixed:
			out = append(out, parsed(head+`"$`+name+`"`))
		default:
			out = append(out, shellcmd.NewWord(a))
		}
	}
	return out
}

func parsed(word string) shellcmd.Word {
	if c := shellcmd.Parse("x "+word, shellcmd.Options{}).Commands; len(c) == 1 && len(c[0].Args) == 2 {
		return c[0].Args[1]
	}
	return shellcmd.NewWord(word)
}

// show writes a call in one line for comparison.
func show(c *Call) string {
	var b strings.Builder
	b.WriteString(c.Name)
	if c.Sub != "" {
		b.WriteString("/" + c.Sub)
	}
	for _, o := range c.Options {
		b.WriteString(" ")
		if o.Unset {
			b.WriteString("!")
		}
		b.WriteString(o.Name)
		if o.Has {
			b.WriteString("=" + o.Value.String())
		}
	}
	for i, w := range c.Operands {
		if i == c.Dashes {
			b.WriteString(" --")
		}
		fmt.Fprintf(&b, " <%s>", w.String())
	}
	if c.Dashes == len(c.Operands) {
		b.WriteString(" --")
	}
	for _, d := range c.Global.Dirs {
		b.WriteString(" C:" + d.String())
	}
	for _, s := range c.Global.Config {
		b.WriteString(" c:" + s.Key + "=" + s.Value.String())
	}
	for _, u := range c.Unknown {
		b.WriteString(" ?" + u)
	}
	if c.Shell != "" {
		b.WriteString(" sh:" + c.Shell)
	}
	if c.Help {
		b.WriteString(" help")
	}
	if c.Dynamic {
		b.WriteString(" dynamic")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	aliases := map[string]string{
		"ci": "commit", "cn": "commit -n", "quoted": `commit -m "two words" -m 'it\s'`,
		"sh": "!git commit --no-verify", "up": "-c core.hooksPath=/x push", "chain": "cn -q",
		"loop": "loop", "a": "b", "b": "a", "commit": "status", "open": "commit 'x",
	}
	tests := []struct{ line, want string }{
		{"git commit -m x", "commit message=x"},
		{"git commit -mx", "commit message=x"},
		{"git commit -mn", "commit message=n"},
		{"git commit -anm wip", "commit all no-verify message=wip"},
		{"git commit -nm wip path", "commit no-verify message=wip <path>"},
		{"git commit --message=x --message y", "commit message=x message=y"},
		{"git commit --mess x", "commit message=x"},
		{"git commit --no-verif", "commit no-verify"},
		{"git commit --no-veri", "commit no-verify"},
		{"git commit --no-ver", "commit ?--no-ver"},
		{"git commit --verify", "commit !no-verify"},
		{"git commit --no-edit --no-gpg-sign", "commit !edit !gpg-sign"},
		{"git commit -uno -m ok", "commit untracked-files=no message=ok"},
		{"git commit -u no", "commit untracked-files <no>"},
		{"git commit -S -m x", "commit gpg-sign message=x"},
		{"git commit -Skey -m x", "commit gpg-sign=key message=x"},
		{"git commit -Sn -m x", "commit gpg-sign=n message=x"},
		{"git commit -m x -- -n", "commit message=x -- <-n>"},
		{"git commit -m -n", "commit message=-n"},
		{"git commit -F -", "commit file=-"},
		{"git commit - x", "commit <-> <x>"},
		{"git commit --fixup HEAD", "commit fixup=HEAD"},
		{"git commit -h", "commit help"},
		{"git commit --help -n", "commit help"},
		{"git help commit", "help help"},
		{"git --version commit", " help"},
		{"git", ""},
		{"git.exe commit -n", "commit no-verify"},
		{`C:\Git\git.EXE commit -n`, "commit no-verify"},
		{"git-commit -n", "commit no-verify"},
		{"/usr/lib/git-core/git-commit -n", "commit no-verify"},
		{"git -C a -C b commit", "commit C:a C:b"},
		{"git -c user.name=x commit", "commit c:user.name=x"},
		{"git -c CORE.HooksPath=/dev/null commit", "commit c:core.hookspath=/dev/null"},
		{"git -c Branch.MyName.Remote=x push", "push c:branch.MyName.remote=x"},
		{"git --config-env=core.hooksPath=HP commit", "commit c:core.hookspath="},
		{"git --git-dir=/x/.git --work-tree /x --no-pager -p status", "status"},
		{"git --exec-path=/usr/lib commit -n", "commit no-verify"},
		{"git --exec-path commit", " help"},
		{"git --namespace n --literal-pathspecs commit -n", "commit no-verify"},
		{"git push -uf origin feature", "push set-upstream force <origin> <feature>"},
		{"git push -n", "push dry-run"},
		{"git push -o ci.skip origin", "push push-option=ci.skip <origin>"},
		{"git push -oci.skip origin", "push push-option=ci.skip <origin>"},
		{"git push --force-with-lease=feature origin", "push force-with-lease=feature <origin>"},
		{"git push --force-with-lease origin", "push force-with-lease <origin>"},
		{"git push --force-w origin", "push force-with-lease <origin>"},
		{"git push --forc origin", "push <origin> ?--forc"},
		{"git push --force --no-force origin", "push force !force <origin>"},
		{"git push --del origin x", "push delete <origin> <x>"},
		{"git push --no-verify", "push no-verify"},
		{"git push origin +feature", "push <origin> <+feature>"},
		{"git push -4f", "push ipv4 force"},
		{"git merge -n --no-verify topic", "merge n no-verify <topic>"},
		{"git am -3 x.patch", "am 3way <x.patch>"},
		{"git rebase -x 'true' -i", "rebase exec='true' interactive"},
		{"git reset --hard HEAD~1", "reset hard <HEAD~1>"},
		{"git reset --har", "reset hard"},
		{"git clean -fdx", "clean force d x"},
		{"git clean -fde pat", "clean force d exclude=pat"},
		{"git branch -D a b", "branch D <a> <b>"},
		{"git branch -df a", "branch delete force <a>"},
		{"git checkout -fb new", "checkout force b=new"},
		{"git checkout -- .", "checkout -- <.>"},
		{"git checkout HEAD -- a b", "checkout <HEAD> -- <a> <b>"},
		{"git stash", "stash/push"},
		{"git stash -k", "stash/push keep-index"},
		{"git stash drop -q stash@{1}", "stash/drop quiet <stash@{1}>"},
		{"git stash clear", "stash/clear"},
		{"git worktree remove --force ../wt", "worktree/remove force <../wt>"},
		{"git reflog expire --expire=now --all", "reflog/expire expire=now all"},
		{"git remote rm origin", "remote/remove <origin>"},
		{"git remote -v rm origin", "remote/remove <origin> ?-v"},
		{"git submodule --quiet foreach 'git commit -n'", "submodule/foreach quiet <'git> <commit> <-n'>"},
		{"git submodule foreach git commit -n", "submodule/foreach <git> <commit> <-n>"},
		{"git config --global core.hooksPath /dev/null", "config global <core.hooksPath> </dev/null>"},
		{"git config set --global core.hooksPath x", "config/set global <core.hooksPath> <x>"},
		{"git config user.name --global", "config <user.name> <--global>"},
		{"git log -n 3 --grep=x", "log n grep=x <3>"},
		{"git ci -n", "commit no-verify"},
		{"git cn -m x", "commit no-verify message=x"},
		{"git chain", "commit no-verify quiet"},
		{"git quoted", "commit message=two words message=it\\s"},
		{"git up -f", "push force c:core.hookspath=/x"},
		{"git sh -m x", " sh:git commit --no-verify '-m' 'x'"},
		{"git -c alias.x=cn x -q", "commit no-verify quiet c:alias.x=cn"},
		{"git -c alias.X=cn x", "commit no-verify c:alias.x=cn"},
		{"git loop", "loop"},
		{"git a", "a"},
		{"git open", ""},
		{"git commit -v", "commit verbose"},
		{"git commit $X", "commit <$X> dynamic"},
		{"git commit -m#$X", "commit message=$X"},
		{"git commit -am#$X", "commit all message=$X"},
		{"git commit --message=#$X -n", "commit message=$X no-verify"},
		{"git commit -m $X", "commit message=$X"},
		{"git $X -n", " dynamic"},
		{"git update-ref -d refs/heads/x", "update-ref d <refs/heads/x>"},
		{"git commit-tree -m x TREE", "commit-tree m=x <TREE>"},
	}
	for _, tt := range tests {
		argv := words(strings.Fields(tt.line)...)
		if tt.line == "git rebase -x 'true' -i" {
			argv[3].Value = "'true'"
		}
		got := show(Parse(argv, nil, func(_ *Global, name string) (string, bool) {
			v, ok := aliases[name]
			return v, ok
		}))
		if got != tt.want {
			t.Errorf("Parse(%s)\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := func(kv ...string) (out []shellcmd.Assign) {
		for _, s := range kv {
			k, v, _ := strings.Cut(s, "=")
			out = append(out, shellcmd.Assign{Name: k, Value: shellcmd.Word{Value: v, Static: true}})
		}
		return out
	}
	tests := []struct {
		env  []shellcmd.Assign
		want string
	}{
		{env("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null"), "commit c:core.hookspath=/dev/null"},
		{env("GIT_CONFIG_COUNT=0", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null"), "commit"},
		{env("GIT_CONFIG_PARAMETERS='core.hooksPath=/dev/null'"), "commit c:core.hookspath=/dev/null"},
		{env("GIT_CONFIG_PARAMETERS='core.hooksPath'='/dev/null' 'a.b=c d'"), "commit c:core.hookspath=/dev/null c:a.b=c d"},
		{env("GIT_CONFIG_KEY_0=core.hooksPath"), "commit"},
		{env("HUSKY=0"), "commit"},
	}
	for _, tt := range tests {
		if got := show(Parse(words("git", "commit"), tt.env, nil)); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.env, got, tt.want)
		}
	}
}

func TestNested(t *testing.T) {
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"git", "rebase", "-x", "make test", "--exec=git commit -n", "main"}, "make test|git commit -n"},
		{[]string{"git", "bisect", "run", "sh", "-c", "make x"}, "'sh' '-c' 'make x'"},
		{[]string{"git", "submodule", "foreach", "git clean -fdx"}, "git clean -fdx"},
		{[]string{"git", "submodule", "foreach", "--recursive", "git", "clean"}, "'git' 'clean'"},
		{[]string{"git", "filter-branch", "--msg-filter", "cat", "HEAD"}, "cat"},
		{[]string{"git", "-c", "core.editor=touch x", "commit"}, "touch x"},
		{[]string{"git", "rebase", "main"}, ""},
		{[]string{"git", "difftool", "-x", "touch x", "HEAD"}, "touch x"},
		{[]string{"git", "difftool", "--extcmd=touch x"}, "touch x"},
		{[]string{"git", "fetch", "--upload-pack=touch x", "origin"}, "touch x"},
		{[]string{"git", "push", "--exec", "touch x", "origin"}, "touch x"},
		{[]string{"git", "clone", "ext::touch x", "d"}, "touch x"},
		{[]string{"git", "-c", "credential.helper=!touch x", "fetch"}, "touch x"},
		{[]string{"git", "-c", "credential.helper=store", "fetch"}, ""},
		{[]string{"git", "-c", "core.fsmonitor=touch x", "status"}, "touch x"},
		{[]string{"git", "-c", "filter.a.clean=touch x", "add", "."}, "touch x"},
	}
	for _, tt := range tests {
		var got []string
		for _, n := range Parse(words(tt.argv...), nil, nil).Nested() {
			got = append(got, n.Text)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%q: nested %q, want %q", tt.argv, s, tt.want)
		}
	}
}

func TestParseConfig(t *testing.T) {
	text := "x=y\n[core]\n\thooksPath = /dev/null ; why\n editor = \"a # b\"\n[alias] z = commit -n\n[Remote \"Or.igin\"]\n\turl=a\\\n b\n# [core]\nbare\n[broken\nk=v\n"
	var got []string
	for _, s := range ParseConfig(text, "file") {
		got = append(got, fmt.Sprintf("%s=%s/%v", s.Key, s.Value.Value, s.Bare))
	}
	want := "core.hookspath=/dev/null/false core.editor=a # b/false alias.z=commit -n/false remote.Or.igin.url=a b/false remote.Or.igin.bare=true/true remote.Or.igin.k=v/false"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("ParseConfig\ngot  %s\nwant %s", s, want)
	}
}

func TestConfigFiles(t *testing.T) {
	env := []shellcmd.Assign{{Name: "GIT_CONFIG_GLOBAL", Value: shellcmd.NewWord("/g")}}
	c := Parse(words("git", "-c", "include.path=/i", "-c", "includeIf.gitdir:/x.path=/c", "-c", "core.editor=vi", "status"), env, nil)
	var got []string
	for _, s := range c.Global.ConfigFiles(env) {
		got = append(got, s.Value.Value)
	}
	if s := strings.Join(got, " "); s != "/g /i /c" {
		t.Errorf("files %q", s)
	}
}

func TestConfigEnv(t *testing.T) {
	env := []shellcmd.Assign{{Name: "Z", Value: shellcmd.NewWord("commit -n")}}
	if c := Parse(words("git", "--config-env=alias.z=Z", "z"), env, nil); c.Name != "commit" || !c.On("no-verify") && len(c.Options) != 1 {
		t.Errorf("read as %s", show(c))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("git commit -anm x --no-verif --")
	f.Add("git -c alias.x=!sh x -C")
	f.Add("git stash -k $X -mq#$Y --=")
	f.Fuzz(func(t *testing.T, line string) {
		argv := words(strings.Fields(line)...)
		c := Parse(argv, nil, func(_ *Global, name string) (string, bool) { return name + " -x", len(name) < 40 })
		if len(c.Operands)+len(c.Options) > 64*(len(line)+64) {
			t.Fatalf("%q: %d operands, %d options", line, len(c.Operands), len(c.Options))
		}
		if c.Dashes > len(c.Operands) {
			t.Fatalf("%q: Dashes %d beyond %d operands", line, c.Dashes, len(c.Operands))
		}
		c.Nested()
	})
}
