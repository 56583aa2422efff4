package ghcmd

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzURL: what net/url can read is read alike, and nothing else stops it.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"repos/o/n/pulls/5", "https://api.github.com/repos/o/n?a=b&c=d+e", "https://ghe.example/api/v3/graphql#x",
		"https://h", "https://h?q=1", "a%2Fb", "a%zz", "%", "a?b=https://x/y", "HTTP://h/%41", "?labels=ready%20for+review",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest, ok := afterHost(s)
		if u, err := url.Parse(s); err == nil && u.Scheme != "" && u.Host != "" {
			path, _, _ := strings.Cut(rest, "#")
			path, _, _ = strings.Cut(path, "?")
			if !ok || unescape(path, false) != u.Path {
				t.Errorf("afterHost(%q) = %q %v, want %q", s, rest, ok, u.Path)
			}
		}
		if want, err := url.PathUnescape(s); err == nil && unescape(s, false) != want {
			t.Errorf("unescape(%q) = %q, want %q", s, unescape(s, false), want)
		}
		if want, err := url.QueryUnescape(s); err == nil && unescape(s, true) != want {
			t.Errorf("unescape(%q) of a query = %q, want %q", s, unescape(s, true), want)
		}
	})
}
