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
func jsonValues(raw, path string) []string {
	return jsonWalk(raw, path, func(string) bool { return true })
}

// jsonBodies returns the texts under the key body, wherever it stands.
func jsonBodies(raw string) []string {
	return jsonWalk(raw, "@this", func(key string) bool { return key == "body" })
}

func jsonWalk(raw, path string, wanted func(key string) bool) (texts []string) {
	if raw == "" || len(raw) > maxJSON || !shallow(raw) || !gjson.Valid(raw) {
		return nil
	}
	var walk func(key string, v gjson.Result)
	walk = func(key string, v gjson.Result) {
		if v.Type == gjson.String && wanted(key) {
			texts = append(texts, v.Str)
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(k, v gjson.Result) bool {
				walk(k.Str, v)
				return true
			})
		}
	}
	walk("", gjson.Get(raw, path))
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
