package gitrepo

import (
	"strings"
	"testing"
)

func TestParsePorcelain(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     porcelain
		end, ok  bool
	}{
		{
			"clean, in step", "# branch.oid " + sha1Name + "\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +0 -0\n",
			porcelain{Head{Branch: "main", Hash: sha1Name}, Changes{Upstream: "origin/main"}}, true, true,
		},
		{
			"dirty, ahead and behind", "# branch.oid " + sha1Name + "\n# branch.head a/b\n# branch.upstream o/a\n# branch.ab +2 -13\n1 .M N... 100644 100644 100644 a b f\n? x\n",
			porcelain{Head{Branch: "a/b", Hash: sha1Name}, Changes{Dirty: true, Upstream: "o/a", Ahead: 2, Behind: 13}}, false, true,
		},
		{
			"unmerged", "# branch.oid " + sha1Name + "\n# branch.head m\nu UU N... 1 2 3 4 a b c f\n",
			porcelain{Head{Branch: "m", Hash: sha1Name}, Changes{Dirty: true}}, false, true,
		},
		{
			"unborn", "# branch.oid (initial)\n# branch.head main\n",
			porcelain{Head{Branch: "main"}, Changes{}}, true, true,
		},
		{
			"detached, SHA-256", "# branch.oid " + sha256Name + "\n# branch.head (detached)\n",
			porcelain{Head{Hash: sha256Name, Detached: true}, Changes{}}, true, true,
		},
		{
			"gone upstream", "# branch.oid " + sha1Name + "\n# branch.head t\n# branch.upstream origin/t\n",
			porcelain{Head{Branch: "t", Hash: sha1Name}, Changes{Upstream: "origin/t", Gone: true}}, true, true,
		},
		{
			"headers of later versions", "# branch.oid " + sha1Name + "\n# branch.head t\n# stash 3\n# branch.new x\n",
			porcelain{Head{Branch: "t", Hash: sha1Name}, Changes{}}, true, true,
		},
		{
			"numbers that are none", "# branch.oid " + sha1Name + "\n# branch.head t\n# branch.upstream u\n# branch.ab +? -?\n",
			porcelain{Head{Branch: "t", Hash: sha1Name}, Changes{Upstream: "u", Gone: true}}, true, true,
		},
		{"empty", "", porcelain{}, true, false},
		{"cut in a header", "# branch.oid " + sha1Name + "\n# branch.head ma", porcelain{}, true, false},
		{"not git's", "usage: git\n", porcelain{}, false, false},
		{"endless line", "# branch.head " + strings.Repeat("x", 1<<20), porcelain{}, false, false},
	} {
		got, end, err := parsePorcelain(strings.NewReader(tt.in))
		if (err == nil) != tt.ok || tt.ok && (got != tt.want || end != tt.end) {
			t.Errorf("%s: parsePorcelain = %+v, %v, %v; want %+v, %v, ok %v", tt.name, got, end, err, tt.want, tt.end, tt.ok)
		}
	}
}

func FuzzParsePorcelain(f *testing.F) {
	f.Add("# branch.oid " + sha1Name + "\n# branch.head main\n# branch.upstream o/m\n# branch.ab +1 -2\n1 .M\n")
	f.Add("#\n# \n#x\n")
	f.Fuzz(func(t *testing.T, in string) {
		p, _, err := parsePorcelain(strings.NewReader(in))
		if err != nil {
			return
		}
		if p.Head.Branch == "" && !p.Head.Detached {
			t.Errorf("parsePorcelain(%q) = %+v without a head", in, p)
		}
		if p.Changes.Ahead < 0 || p.Changes.Behind < 0 {
			t.Errorf("parsePorcelain(%q) = %+v counts backwards", in, p)
		}
	})
}
