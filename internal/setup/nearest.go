package setup

import (
	"fmt"
	"strings"

	"sallyport/internal/cli"
	"sallyport/internal/levenshtein"
)

// unknownName is the usage error for a name that is not one of valid; it
// offers the nearest that is.
func unknownName(kind, name string, valid []string) error {
	if len(valid) == 0 {
		return cli.Usagef("unknown %s %q", kind, name)
	}
	return cli.Usagef("unknown %s %q; did you mean %q? (known: %s)", kind, name, Nearest(name, valid), strings.Join(valid, ", "))
}

// Nearest returns the candidate with the fewest single-character edits from
// name, the first of equals, or "" without candidates.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", 0
	for _, c := range candidates {
		if d := Distance(name, c); best == "" || d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// Distance is the number of single-character edits between two names. A long one
// is cut, since it is near nothing.
func Distance(a, b string) int {
	return levenshtein.Distance(a[:min(len(a), 64)], b[:min(len(b), 64)])
}

// conflict is the error for a file that cannot be used as it is.
func conflict(file, where, format string, args ...any) error {
	at := file
	if where != "" {
		at += " at " + where
	}
	return cli.Exitf(cli.ExitInput, "%s: %s", at, fmt.Sprintf(format, args...))
}
