package hints

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/atomicfile"
)

const (
	// repeatAfter is how long a session is not told the same thing again.
	repeatAfter = 10 * time.Minute

	seenSuffix     = ".seen"
	maxSeenBytes   = 16 << 10
	maxSeenFiles   = 256
	seenFileAge    = 48 * time.Hour
	clockTolerance = time.Minute
)

// Seen remembers which hints each session has been given: one small file a
// session in Dir, replaced as a whole. Files of sessions long gone are removed,
// and there are never many. An empty Dir remembers nothing.
type Seen struct{ Dir string }

// Claim reports whether a session may be given a hint now, and if so records
// that it was. The answer is yes whenever it cannot be known: without a session
// id, or when the state cannot be read or written.
func (s Seen) Claim(session, id string, now time.Time) bool {
	if s.Dir == "" || session == "" {
		return true
	}
	// The id is somebody else's text; its digest is a safe name. Two ids that
	// share one cost a hint, which is not worth the start-up time of crypto.
	digest := fnv.New128a()
	digest.Write([]byte(session))
	name := fmt.Sprintf("%x", digest.Sum(nil)) + seenSuffix
	if os.MkdirAll(s.Dir, 0o700) != nil {
		return true
	}
	if lock := lockSoon(filepath.Join(s.Dir, "lock")); lock != nil {
		defer lock.Unlock()
	}
	path := filepath.Join(s.Dir, name)
	seen, exists := readSeen(path, now)
	if at, ok := seen[id]; ok && now.Sub(at) < repeatAfter {
		return false
	}
	seen[id] = now
	if !exists {
		s.prune(now)
	}
	writeSeen(path, seen)
	return true
}

// readSeen reads lines of an id and the Unix time it was shown at. Anything
// else in the file, and times that lie in the future, counts as absent.
func readSeen(path string, now time.Time) (seen map[string]time.Time, exists bool) {
	seen = map[string]time.Time{}
	info, err := os.Lstat(path)
	if err != nil {
		return seen, false
	}
	if !info.Mode().IsRegular() || info.Size() > maxSeenBytes {
		return seen, true
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return seen, true
	}
	for line := range strings.Lines(string(raw)) {
		id, at, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			continue
		}
		when := time.Unix(seconds, 0)
		if when.After(now.Add(clockTolerance)) || now.Sub(when) >= repeatAfter {
			continue
		}
		seen[id] = when
	}
	return seen, true
}

// writeSeen replaces a state file. A failure is harmless: the hint is then
// given again.
func writeSeen(path string, seen map[string]time.Time) {
	var b strings.Builder
	for id, at := range seen {
		b.WriteString(id + " " + strconv.FormatInt(at.Unix(), 10) + "\n")
	}
	_ = atomicfile.Write(path, []byte(b.String()), 0o600)
}

// lockSoon keeps two hooks of parallel calls from giving the same hint. A lock
// that is not had within a moment is gone without: a hook does not wait.
func lockSoon(path string) *atomicfile.Lock {
	for range 25 {
		lock, err := atomicfile.TryLock(path)
		if err == nil {
			return lock
		}
		if !errors.Is(err, atomicfile.ErrLocked) {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// prune removes the files of old sessions, and the oldest ones beyond
// maxSeenFiles. Files of other names are left alone.
func (s Seen) prune(now time.Time) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return
	}
	type file struct {
		path string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if !strings.Contains(e.Name(), seenSuffix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		files = append(files, file{filepath.Join(s.Dir, e.Name()), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	for i, f := range files {
		if i >= maxSeenFiles-1 || now.Sub(f.at) > seenFileAge {
			os.Remove(f.path)
		}
	}
}
