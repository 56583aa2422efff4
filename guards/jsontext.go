package guards

import (
	"github.com/tidwall/gjson"

	"sallyport/internal/ghcmd"
)

type apiRequest = ghcmd.Request

// maxJSON and maxDepth bound the JSON bodies that are looked into.
const (
	maxJSON  = 1 << 20
	maxDepth = 64
)

// jsonTexts returns the title and body of a JSON request.
func jsonTexts(raw string) (title, body string) {
	if len(raw) > maxJSON || !shallow(raw) || !gjson.Valid(raw) {
		return "", ""
	}
	return gjson.Get(raw, "title").String(), gjson.Get(raw, "body").String()
}

// shallow reports whether no more than maxDepth brackets are open at once,
// counting those inside strings as well.
func shallow(raw string) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}
