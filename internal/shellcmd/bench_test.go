package shellcmd

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	script := "(cd src && git add -A); if test -f x; then X=git; $X status \"$HOME\" | grep -v foo > out.txt; fi\n"
	for _, size := range []int{1 << 10, 100 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("true/%dK", size>>10), func(b *testing.B) {
			src := strings.Repeat("true; ", size/6) + "git commit -n"
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Parse(src, Options{})
			}
		})
		b.Run(fmt.Sprintf("script/%dK", size>>10), func(b *testing.B) {
			src := strings.Repeat(script, size/len(script)+1)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Parse(src, Options{})
			}
		})
	}
}
