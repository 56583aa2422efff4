package gather

import (
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"

	"sallyport/internal/pr"
	"sallyport/internal/statusline"
)

// A Payload is what the client says about its session on stdin. Fields that
// are missing or of the wrong type are zero.
type Payload struct {
	CurrentDir string
	ProjectDir string
	Version    string
	Model      string
	PR         pr.PR
	RepoHost   string

	Context statusline.Context
	Cost    statusline.Cost
	Limits  statusline.Limits
	Effort  string
	Style   string
	Agent   string
	Name    string
}

const (
	maxInput = 32 << 20
	maxDepth = 1000
)

// ReadPayload reads one JSON object from r and nothing behind it, because the
// pipe may stay open. Input that is not an object, broken, too large, nested
// too deep or not there within the limit is the zero Payload, and ok is false.
func ReadPayload(r io.Reader, limit time.Duration) (p Payload, ok bool) {
	ch := make(chan []byte, 1)
	go func() {
		data, ok := readObject(r)
		if !ok {
			data = nil
		}
		ch <- data
	}()
	select {
	case data := <-ch:
		return parsePayload(data)
	case <-time.After(limit):
		return Payload{}, false
	}
}

// readObject reads up to the brace that closes the first one.
func readObject(r io.Reader) ([]byte, bool) {
	var data []byte
	buf := make([]byte, 16<<10)
	depth, inString, escaped := 0, false, false
	for len(data) < maxInput {
		n, err := r.Read(buf)
		for i, c := range buf[:n] {
			switch {
			case depth == 0:
				switch c {
				case '{':
					depth = 1
				case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // a byte order mark may lead
					continue
				default:
					return nil, false
				}
			case escaped:
				escaped = false
			case inString:
				escaped = c == '\\'
				inString = c != '"'
			case c == '"':
				inString = true
			case c == '{' || c == '[':
				if depth++; depth > maxDepth {
					return nil, false
				}
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return append(data, buf[:i+1]...), true
				}
			}
		}
		data = append(data, buf[:n]...)
		if err != nil {
			return nil, false
		}
	}
	return nil, false
}

func parsePayload(data []byte) (Payload, bool) {
	for len(data) > 0 && data[0] != '{' {
		data = data[1:]
	}
	// The depth was bounded by readObject: gjson's validation is recursive.
	if len(data) == 0 || !gjson.ValidBytes(data) {
		return Payload{}, false
	}
	root := gjson.ParseBytes(data)
	text := func(path string) string {
		v := root.Get(path)
		if v.Type != gjson.String || len(v.Str) > 16<<10 {
			return ""
		}
		return v.Str
	}
	number := func(path string) (float64, bool) {
		v := root.Get(path)
		if v.Type != gjson.Number || math.IsNaN(v.Num) || math.Abs(v.Num) >= 1e15 {
			return 0, false
		}
		return v.Num, true
	}
	integer := func(path string) int64 {
		n, _ := number(path)
		return int64(n)
	}
	limit := func(path string) statusline.Limit {
		percent, ok := number(path + ".used_percentage")
		l := statusline.Limit{Known: ok, Percent: percent}
		if at := integer(path + ".resets_at"); at > 0 {
			l.ResetsAt = time.Unix(at, 0)
		}
		return l
	}
	p := Payload{
		CurrentDir: text("workspace.current_dir"),
		ProjectDir: text("workspace.project_dir"),
		Version:    text("version"),
		Model:      text("model.display_name"),
		RepoHost:   text("workspace.repo.host"),
		PR: pr.PR{
			Number: integer("pr.number"), Title: text("pr.title"), URL: text("pr.url"),
			Kind: text("pr.kind"), Review: text("pr.review_state"),
		},
		Limits: statusline.Limits{FiveHour: limit("rate_limits.five_hour"), SevenDay: limit("rate_limits.seven_day")},
		Effort: text("effort.level"),
		Style:  text("output_style.name"),
		Agent:  text("agent.name"),
		Name:   text("session_name"),
	}
	if p.CurrentDir == "" {
		p.CurrentDir = text("cwd")
	}
	if p.Model == "" {
		p.Model = text("model.id")
	}
	if p.Model == "" {
		p.Model = text("model")
	}
	if percent, ok := number("context_window.used_percentage"); ok {
		p.Context = statusline.Context{Known: true, Percent: percent}
	}
	if root.Get("cost").IsObject() {
		usd, _ := number("cost.total_cost_usd")
		p.Cost = statusline.Cost{
			Known: true, USD: usd,
			Duration: time.Duration(min(integer("cost.total_duration_ms"), 1e12)) * time.Millisecond,
			Added:    integer("cost.total_lines_added"), Removed: integer("cost.total_lines_removed"),
		}
	}
	return p, true
}

// Start is the directory that the session was started in, as far as the
// payload says; settings are resolved from there.
func (p Payload) Start() string {
	if p.ProjectDir != "" {
		return p.ProjectDir
	}
	return p.CurrentDir
}

// current is the directory that folder, git and pull request are about.
func (p Payload) current(processDir string) string {
	dir := p.CurrentDir
	if dir == "" {
		dir = p.ProjectDir
	}
	switch {
	case dir == "":
		return processDir
	case !filepath.IsAbs(dir) && processDir != "":
		return filepath.Join(processDir, dir)
	}
	return dir
}
