package agentguard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sallyport/guards"
	"sallyport/hookio"
	"sallyport/internal/atomicfile"
	"sallyport/internal/dirs"
)

// A LogConfig says where decisions are written down, and for how long.
type LogConfig struct {
	Path     string // empty: nowhere
	MaxBytes int64
	Keep     int  // rotated files
	Passes   bool // also commands that nothing stopped
}

// Defaults of the log.
const (
	defaultLogBytes = 10 << 20
	defaultLogKeep  = 3
	maxLogged       = 2000 // bytes of a command in the log
)

func newLogConfig(t logTable, getenv func(string) string) LogConfig {
	if !t.Enabled {
		return LogConfig{}
	}
	c := LogConfig{Path: t.Path, MaxBytes: t.MaxBytes, Keep: t.Keep, Passes: t.Passes}
	if rest, ok := strings.CutPrefix(c.Path, "~/"); ok {
		c.Path = filepath.Join(dirs.Home(getenv), rest)
	}
	if c.Path == "" {
		if dir := dirs.State(getenv); dir != "" {
			c.Path = filepath.Join(dir, "agent-guard.log.jsonl")
		}
	}
	if !filepath.IsAbs(c.Path) {
		c.Path = ""
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultLogBytes
	}
	if c.Keep <= 0 {
		c.Keep = defaultLogKeep
	}
	return c
}

// A Record is one line of the audit log: one decision.
type Record struct {
	Time     string `json:"time"` // RFC 3339, UTC
	Harness  string `json:"harness,omitempty"`
	Session  string `json:"session,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Dir      string `json:"cwd,omitempty"`
	Command  string `json:"command"` // redacted, cut to 2000 bytes
	Guard    string `json:"guard,omitempty"`
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason,omitempty"`
	Override string `json:"override,omitempty"`
}

// log writes the decisions of a report. A log that cannot be written harms
// nothing: the decision stands.
func (s *session) log(ev *hookio.Event, rep *guards.Report) {
	c := s.config.Log
	if c.Path == "" || len(rep.Results) == 0 && !c.Passes {
		return
	}
	record := Record{Time: time.Now().UTC().Format(time.RFC3339), Dir: s.dir, Command: Redact(cut(rep.Input.Command, maxLogged)), Verdict: guards.Pass.String()}
	if ev != nil {
		record.Harness, record.Session, record.Tool = ev.Harness, ev.SessionID, ev.Tool
		if record.Command == "" {
			record.Command = cut(ev.FilePath, maxLogged)
		}
	}
	var b strings.Builder
	add := func(r Record) {
		line, err := json.Marshal(r)
		if err == nil {
			b.Write(line)
			b.WriteByte('\n')
		}
	}
	for i := range rep.Results {
		res := &rep.Results[i]
		r := record
		r.Guard, r.Verdict, r.Override = res.Guard.Name, res.Verdict.String(), res.Override
		r.Reason = Redact(res.Reason(rep.Input.Inline))
		add(r)
	}
	if len(rep.Results) == 0 {
		add(record)
	}
	if err := c.append([]byte(b.String())); err != nil {
		s.p.Debugf("log: %v", err)
	}
}

// append adds lines to the log, and rotates it when it is full.
func (c LogConfig) append(lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	if st, err := os.Stat(c.Path); err == nil && st.Size()+int64(len(lines)) > c.MaxBytes {
		c.rotate()
	}
	f, err := os.OpenFile(c.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(lines); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// rotate renames log → log.1 → log.2 …; the oldest goes. Of several processes
// that find it full at once one does it.
func (c LogConfig) rotate() {
	lock, err := atomicfile.TryLock(c.Path + ".lock")
	if err != nil {
		return
	}
	defer lock.Unlock()
	if st, err := os.Stat(c.Path); err != nil || st.Size() < c.MaxBytes/2 {
		return // another process was faster
	}
	for i := c.Keep; i > 1; i-- {
		os.Rename(c.Path+"."+strconv.Itoa(i-1), c.Path+"."+strconv.Itoa(i))
	}
	os.Rename(c.Path, c.Path+".1")
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
