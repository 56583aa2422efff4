package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/regularfile"
	"sallyport/internal/term"
)

// A Failure is the last failure of a guard while it judged a command. It is
// forgotten when the guard judges one again. A file whose head cannot be read
// leaves none: [Set.Describe] tells what is wrong with it.
type Failure struct {
	Path  string    `json:"path"`
	Time  time.Time `json:"time"`
	Error string    `json:"error"`
}

// maxFailures bounds the records that are kept.
const maxFailures = 200

func failureDir(state string) string { return filepath.Join(state, "guard-failures") }

func (s *Set) failurePath(f *file) string {
	if s.opts.StateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(f.path))
	return filepath.Join(failureDir(s.opts.StateDir), hex.EncodeToString(sum[:12])+".json")
}

// record keeps the failure for a person to find. It is no reason to fail
// itself.
func (s *Set) record(f *file, err error) {
	path := s.failurePath(f)
	if path == "" {
		return
	}
	now := Failure{f.path, time.Now().UTC(), term.Clean(err.Error(), maxReasonText)}
	if old, ok := readFailure(path); ok && old.Error == now.Error && now.Time.Sub(old.Time).Abs() < time.Hour {
		return // a guard that always fails shall not write on every command
	}
	data, _ := json.Marshal(now)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	if _, err := os.Lstat(path); err != nil {
		if names, err := os.ReadDir(filepath.Dir(path)); err == nil && len(names) >= maxFailures {
			os.Remove(filepath.Join(filepath.Dir(path), names[0].Name()))
		}
	}
	if err := atomicfile.Write(path, append(data, '\n'), 0o600); err != nil {
		s.opts.debugf("record the failure of %s: %v", f.path, err)
	}
}

func (s *Set) forget(f *file) {
	if path := s.failurePath(f); path != "" {
		_ = os.Remove(path)
	}
}

// Failures reads the recorded failures by the path of the guard's file.
func Failures(state string) map[string]Failure {
	out := map[string]Failure{}
	if state == "" {
		return out
	}
	names, _ := os.ReadDir(failureDir(state))
	for _, n := range names[:min(len(names), 2*maxFailures)] {
		if !strings.HasSuffix(n.Name(), ".json") || !n.Type().IsRegular() {
			continue
		}
		if failure, ok := readFailure(filepath.Join(failureDir(state), n.Name())); ok {
			out[failure.Path] = failure
		}
	}
	return out
}

func readFailure(path string) (Failure, bool) {
	var failure Failure
	data, err := regularfile.Read(path, 16<<10)
	return failure, err == nil && json.Unmarshal(data, &failure) == nil && failure.Path != ""
}
