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

// jsonStrings returns the texts at some paths of a JSON request.
func jsonStrings(raw string, paths ...string) (texts []string) {
	if raw == "" || len(raw) > maxJSON || !shallow(raw) || !gjson.Valid(raw) {
		return nil
	}
	for _, v := range gjson.GetMany(raw, paths...) {
		if v.Type == gjson.String && v.Str != "" {
			texts = append(texts, v.Str)
		}
	}
	return texts
}

// jsonValues returns the texts in the object at a path, and in the objects in
// it.
func jsonValues(raw, path string) (texts []string) {
	if raw == "" || len(raw) > maxJSON || !shallow(raw) || !gjson.Valid(raw) {
		return nil
	}
	var walk func(gjson.Result)
	walk = func(v gjson.Result) {
		if v.Type == gjson.String {
			texts = append(texts, v.Str)
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, v gjson.Result) bool {
				walk(v)
				return true
			})
		}
	}
	walk(gjson.Get(raw, path))
	return texts
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
