package plugin

import (
	"fmt"
	"testing"

	"sallyport/guards"
)

// What a start pays before any trigger matches.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{0, 20} {
		for _, ext := range []string{"toml", "star", "py"} {
			b.Run(fmt.Sprintf("%d-%s", n, ext), func(b *testing.B) {
				bench := newBench(b)
				for i := range n {
					text := "TRIGGERS = [\"terraform\"]\ndef guard(ctx):\n    return None\n"
					if ext == "toml" {
						text = Skeleton(fmt.Sprintf("g%d", i), "toml")
					}
					bench.write(fmt.Sprintf("g%d.%s", i, ext), text)
				}
				bundled := guards.Bundled()
				b.ResetTimer()
				for range b.N {
					Load(bench.opts, bundled).Close()
				}
			})
		}
	}
}

func BenchmarkNone(b *testing.B) {
	bench := newBench(b)
	for range b.N {
		None(bench.opts)
	}
}

// What a command pays whose trigger matches.
func BenchmarkJudge(b *testing.B) {
	for _, ext := range []string{"toml", "star", "py"} {
		b.Run(ext, func(b *testing.B) {
			if ext == "py" {
				needPython(b)
			}
			bench := newBench(b)
			bench.write("x."+ext, Skeleton("x", ext))
			for range b.N {
				s := Load(bench.opts, nil)
				bench.judgeWith(s, "gh pr merge 5; git push origin x")
				s.Close()
			}
		})
	}
}

func BenchmarkRuleHead(b *testing.B) {
	data := []byte(Skeleton("x", "toml"))
	for range b.N {
		if _, _, _, err := ruleHead(data); err != nil {
			b.Fatal(err)
		}
	}
}
