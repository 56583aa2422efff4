package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sallyport/settings"
)

// parseSettings reads a settings file for an edit; a file that is empty or not
// there has an absent root. It refuses what an edit could make worse: text that
// is not JSON, a byte order mark, and a name that an object has twice.
func parseSettings(file string, doc []byte) (settings.Node, error) {
	if len(doc) == 0 {
		return settings.Node{}, nil
	}
	if bytes.HasPrefix(doc, byteOrderMark) {
		return settings.Node{}, conflict(file+":1:1", "", "the file begins with a byte order mark; --fix-json strips it")
	}
	d, err := settings.ParseDocument(doc)
	var syntax *settings.SyntaxError
	if errors.As(err, &syntax) {
		return settings.Node{}, conflict(fmt.Sprintf("%s:%d:%d", file, syntax.Line, syntax.Column), "", "%s; repair the file and run this again", syntax.Message)
	}
	if err != nil {
		return settings.Node{}, conflict(file, "", "%v", err)
	}
	if line, column, ok := d.Repeated(); ok {
		return settings.Node{}, conflict(fmt.Sprintf("%s:%d:%d", file, line, column), "", "the name stands twice in its object, and only the last counts; remove one")
	}
	return d.Root(), nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// editJSON applies edits to a settings file and keeps every other byte.
func editJSON(file string, doc []byte, edits []edit) ([]byte, error) {
	if len(edits) == 0 {
		return doc, nil
	}
	changes := make([]settings.Change, len(edits))
	for i, e := range edits {
		switch e.Op {
		case opSet:
			changes[i] = settings.Set(json.RawMessage(e.Value), e.Path...)
		case opAppend:
			changes[i] = settings.Append(json.RawMessage(e.Value), e.Path...)
		case opDelete:
			changes[i] = settings.Delete(e.Path...)
		}
	}
	after, err := settings.Apply(doc, changes...)
	if err != nil {
		return nil, conflict(file, "", "%v", err)
	}
	return after, nil
}
