package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// A manifest records what install did, for uninstall and for the next install.
type manifest struct {
	Version     string              `json:"version"`
	InstalledAt string              `json:"installed_at"`
	Prefix      string              `json:"prefix"`
	Binaries    map[string]program  `json:"binaries"`
	Wired       map[string][]string `json:"wired"` // settings file: JSON pointers of our entries
	RC          []string            `json:"rc"`
	GitConfig   map[string]*string  `json:"git_config"` // previous values
	// Texts are the settings and start files that were edited.
	Texts   map[string]text `json:"texts"`
	Choices choices         `json:"choices"`
	// Dirs are directories that were made, outermost first.
	Dirs []string `json:"dirs"`
	// Scope is the shared hook directory, if there is one.
	Scope *hookScope `json:"scope,omitempty"`
}

// A program is one installed executable or link.
type program struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // not of links
	Mode   string `json:"mode,omitempty"`   // octal
	Link   bool   `json:"link"`
	Target string `json:"target,omitempty"` // of links
}

// A text is an edited file. While it still has the content that the edit gave
// it, undoing the edit means putting the original back, byte for byte.
type text struct {
	After    string `json:"after"`              // sha256 of the edited file
	Existed  bool   `json:"existed"`            // before the first edit
	Original string `json:"original,omitempty"` // file in the state directory; empty if unknown or not Existed
	// Created and StatusLine are of settings files, see merge.
	Created    []string `json:"created,omitempty"`
	StatusLine string   `json:"status_line,omitempty"`
}

func manifestFile(state string) string { return filepath.Join(state, "installed.json") }

// maxManifest bounds what is read; a real one has a few KiB.
const maxManifest = 4 << 20

// readManifest returns nil without an error if there is none.
func readManifest(state string) (*manifest, error) {
	file := manifestFile(state)
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxManifest) {
		err = errors.New("not a manifest")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	var m manifest
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		if err = dec.Decode(&m); err == nil {
			err = m.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &m, nil
}

// check refuses a manifest that would make uninstall touch anything but files
// named by absolute paths.
func (m *manifest) check() error {
	paths := append([]string{m.Prefix}, m.RC...)
	paths = append(paths, m.Dirs...)
	texts := []map[string]text{m.Texts}
	for _, b := range m.Binaries {
		paths = append(paths, b.Path)
	}
	if s := m.Scope; s != nil {
		paths = append(paths, s.Dir, s.Config)
		texts = append(texts, s.Texts)
		for _, b := range s.Files {
			paths = append(paths, b.Path)
		}
	}
	for file, t := range each(texts) {
		paths = append(paths, file)
		if t.Original != filepath.Base(t.Original) && t.Original != "" {
			return fmt.Errorf("original %q is not a plain name", t.Original)
		}
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return fmt.Errorf("%q is not an absolute path", p)
		}
	}
	return nil
}

// each visits the members of several maps.
func each[V any](maps []map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, m := range maps {
			for k, v := range m {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}

// clone is a deep copy.
func (m *manifest) clone() *manifest {
	var c manifest
	if err := json.Unmarshal(m.encode(), &c); err != nil {
		panic(err) // what encode wrote
	}
	return &c
}

func (m *manifest) encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		panic(err) // only strings, maps and slices of them
	}
	return b.Bytes()
}

// same compares all but version and time.
func (m *manifest) same(other *manifest) bool {
	if m == nil || other == nil {
		return m == other
	}
	a, b := *m, *other
	a.Version, a.InstalledAt = b.Version, b.InstalledAt
	return bytes.Equal(a.encode(), b.encode())
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// flatName is a path as one file name. A very long one keeps its end, behind
// a hash of the whole: file systems take 255 bytes.
func flatName(path string) string {
	const longest = 200
	name := strings.NewReplacer("%", "%25", "/", "%2F", `\`, "%5C", ":", "%3A").Replace(path)
	if len(name) > longest {
		name = sum([]byte(path))[:16] + "-" + strings.ToValidUTF8(name[len(name)-longest:], "")
	}
	return name
}

// choices are a person's, and hold for the next install as well.
type choices struct {
	Portable *bool  `json:"portable,omitempty"`
	Matchers string `json:"matchers,omitempty"`
	Link     bool   `json:"link,omitempty"`
}
