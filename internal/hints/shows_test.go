package hints

import "testing"

func TestShowsText(t *testing.T) {
	tests := []struct {
		line string
		want bool
	}{
		{"cat notes.md", true},
		{"/bin/cat notes.md", true},
		{`\cat notes.md`, true},
		{"  cat   notes.md  ", true},
		{"'cat' notes.md", true},
		{"cat x | head", true},
		{"cat x | sort | uniq -c", true},
		{"cat < notes.md", true},
		{"< notes.md cat", true},
		{"cat notes.md 2>/dev/null", true},
		{"cat notes.md 2>&1", true},
		{"cat a && docker ps", true},
		{"cd docs && cat notes.md", true},
		{"cd docs; cat notes.md", true},
		{"cd docs\ncat notes.md", true},
		{"cd docs || exit 1; cat x", true},
		{"pushd docs && grep -r agent .", true},
		{"LANG=C grep x y", true},
		{"A=1 B='two words' rg x", true},
		{"sudo cat /var/log/syslog", true},
		{"sudo -u root -- tail -n 5 x", true},
		{"sudo -E FOO=1 cat x", true},
		{"command cat x", true},
		{"command -p cat x", true},
		{"env LANG=C cat x", true},
		{"env -u X cat x", true},
		{"time cat x", true},
		{"timeout 10 cat x", true},
		{"timeout -k 1 -s KILL 5s cat x", true},
		{"nice -n 5 cat x", true},
		{"cd a && LANG=C sudo command head -5 x", true},
		{"(cat x)", true},
		{"{ cat x; }", true},
		{"! grep -q x y", true},
		{"# what does it say\ncat x", true},
		{"echo '== file'; cat x", true},
		{"set -euo pipefail\ncat x", true},
		{"ls docs; cat docs/x.md", true},
		{"[ -f x ] && cat x", true},
		{"if [ -f x ]; then cat x; fi", true},
		{"for f in a b; do cat \"$f\"; done", true},
		{"while read -r f; do cat $f; done < list", true},
		{"bash -c 'cat x'", true},
		{"bash -lc \"cd d && cat x\"", true},
		{"find . -name '*.md' | xargs grep agent", true},
		{"find . -name '*.md' -exec cat {} +", true},
		{"sed -n 1,20p x", true},
		{"sed -ne 1p x", true},
		{"awk '{print $1}' x", true},
		{"less x", true}, {"more x", true}, {"bat x", true}, {"tail -f x", true}, {"rg x", true}, {"ag x", true},
		{"jq . x.json", true}, {"fx x.json", true},
		{"git log", true},
		{"git log --oneline | head -5", true},
		{"git -C dir log", true},
		{"git --no-pager -c a=b diff", true},
		{"git --git-dir=x show HEAD", true},
		{"git diff --stat", true},
		{"git grep agent", true},
		{"gh issue view 5", true},
		{"gh pr view 5 --comments", true},
		{"gh -R o/r issue view 5", true},
		{"gh issue -R o/r view 5", true},

		{"", false},
		{"docker ps", false},
		{"docker ps | head", false},
		{"docker ps 2>&1 | grep x", false},
		{"docker compose up; cat log", false},
		{"cd x && docker ps", false},
		{"FOO=cat docker ps", false},
		{"sudo docker ps", false},
		{"catalog x", false},
		{"concat x", false},
		{"echo cat", false},
		{"echo 'cat x'", false},
		{"sed -i s/a/b/ x", false},
		{"sed -Ei s/a/b/ x", false},
		{"sed --in-place s/a/b/ x", false},
		{"git push", false},
		{"git -C log push", false},
		{"git -c log=show fetch", false},
		{"gh pr create", false},
		{"gh pr list-things view", false},
		{"gh api repos/o/r", false},
		{"cd docs", false},
		{"npm run cat", false},
		{"bash -c 'docker ps'", false},
		{"bash cat", false},
		{"xargs -n 1 docker < list", false},
		{"cat > run.sh <<'EOF'\ndocker ps\nEOF\nbash run.sh", false},
		{"cat <<EOF > run.sh && sh run.sh\ncat y\nEOF", false},
		{"cat <<-EOF >x\n\tcat\n\tEOF\ndocker ps", false},
		{"cat a > b && docker ps", false},
		{"cat a 1>b; docker ps", false},
		{"cat a &> b; docker ps", false},
		{"cat a > b", false},
		{"cat a >&2", true},
		{"cat a > /dev/stderr", true},
		{"cat \"unterminated", true},
		{"$(cat x)", false},
		{"\"\"", false},
	}
	for _, tt := range tests {
		if got := ShowsText(tt.line); got != tt.want {
			t.Errorf("ShowsText(%q) = %v, want %v", tt.line, got, tt.want)
		}
	}
}

func TestShowsTextPowerShell(t *testing.T) {
	for line, want := range map[string]bool{
		"Get-Content notes.md":                   true,
		"gc notes.md | Select-Object -First 5":   true,
		"Set-Location docs; type notes.md":       true,
		"Select-String -Pattern agent -Path *":   true,
		"cat notes.md":                           true,
		"git log":                                true,
		"docker ps | Select-String x":            false,
		"Set-Content x 'Get-Content'":            false,
		"Set-Location docs; docker ps":           false,
		"Write-Host hello":                       false,
		"":                                       false,
		"Get-ContentX notes.md":                  false,
		"Invoke-WebRequest https://example.test": false,
	} {
		if got := ShowsTextPowerShell(line); got != want {
			t.Errorf("ShowsTextPowerShell(%q) = %v, want %v", line, got, want)
		}
	}
}

func FuzzShowsText(f *testing.F) {
	for _, line := range []string{"cd a && sudo -u x cat b | head", "cat <<E >f\nx\nE\ngit -C d log", "a=$(b (c)) 'q' \"r\\\"\" 2>&1", "bash -c \"bash -c 'cat'\"", "|&;()<>\\"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := ShowsText(line)
		if again := ShowsText("cd /tmp && " + line); got && !again {
			t.Errorf("%q shows text, but not behind a cd", line)
		}
		ShowsTextPowerShell(line)
	})
}
