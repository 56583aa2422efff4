package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"sallyport/internal/atomicfile"
	"sallyport/settings"
)

// An ownedEntry is one entry of a container that we share with a person: a
// member of an object, or an element of an array of strings.
type ownedEntry struct {
	Path    []string `json:"path"`
	Value   any      `json:"value"`             // of a member
	Element bool     `json:"element,omitempty"` // Value is an element of the array at Path
}

func (e ownedEntry) same(f ownedEntry) bool {
	return e.Element == f.Element && string(compactJSON(e)) == string(compactJSON(f))
}

// A fileState is what is remembered of one target.
type fileState struct {
	SHA256  string       `json:"sha256"`
	Created bool         `json:"created,omitempty"` // the file was not there before us
	Owned   []ownedEntry `json:"owned,omitempty"`
}

// A stateFile remembers what was written last. It is a help, never a need: a lost
// or damaged one costs a backup more.
type stateFile struct {
	path  string
	Files map[string]*fileState `json:"files"`
}

func loadState(path string) *stateFile {
	s := &stateFile{path: path, Files: map[string]*fileState{}}
	data, err := readFile(path)
	if err != nil {
		return s
	}
	if _, err := settings.ParseDocument(data); err != nil {
		return s
	}
	var read stateFile
	if json.Unmarshal(data, &read) != nil {
		return s
	}
	for name, f := range read.Files {
		if f != nil {
			s.Files[name] = f
		}
	}
	return s
}

func (s *stateFile) save() error {
	if s.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(s.path, indentJSON(s), 0o600)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
