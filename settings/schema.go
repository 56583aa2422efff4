package settings

// A fault is a value that the client's schema rejects.
type fault struct {
	at      Node
	message string
	drops   bool // the client drops the whole file
}

func validate(doc *Document, scope Scope) (fault, bool) {
	if root := doc.Root(); root.Kind() != Object {
		return fault{root, "settings must be an object, the client drops the whole file", true}, true
	}
	return fault{}, false
}
