// Package pr knows the pull request of a branch. What it knows comes from a
// cache; asking the forge is [Ask], which takes seconds and belongs in a
// process of its own.
package pr

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sallyport/internal/cache"
	"sallyport/internal/childproc"

	"github.com/tidwall/gjson"
)

// A PR is a pull request, or a merge request if Kind is "mr". All text is as
// it came from outside.
type PR struct {
	Number int64
	Title  string
	URL    string
	Kind   string
	// Review is "approved", "pending", "changes_requested", "draft" or empty.
	Review string
}

// How long an answer counts: a title rarely changes, while a pull request that
// is not there yet may be opened any moment.
const (
	HitTTL  = 5 * time.Minute
	MissTTL = time.Minute
)

// AskLimit bounds [Ask].
const AskLimit = 3 * time.Second

// An Answer is what the forge said about a branch. Number 0 means that there
// is no pull request, or that nobody could be asked.
type Answer struct {
	Number int64  `json:"number"`
	Title  string `json:"title,omitempty"`
	URL    string `json:"url,omitempty"`
}

// Key names the cache entry of a branch of the repository with that common git
// dir.
func Key(commonDir, branch string) string { return cache.Key("pr", commonDir, branch) }

// Cached is the last answer for a branch. fresh is false when it is time to
// ask again; an answer about another number than the one that is known from
// elsewhere, if it is not 0, counts as a miss.
func Cached(store cache.Store, key string, number int64, now time.Time) (a Answer, fresh bool) {
	written, ok := store.Get(key, &a)
	if !ok {
		return Answer{}, false
	}
	ttl := MissTTL
	if a.Number > 0 && (number <= 0 || number == a.Number) {
		ttl = HitTTL
	}
	// A clock that was set back must not keep an answer for ever.
	age := now.Sub(written)
	return a, age < ttl && age > -ttl
}

// Ask asks gh for the pull request of the branch that is checked out in dir.
// No pull request, no gh and no network are all the zero Answer.
func Ask(ctx context.Context, dir string, environ []string, getenv func(string) string) Answer {
	gh, ok := childproc.LookPath("gh", getenv)
	if !ok {
		return Answer{}
	}
	ctx, cancel := context.WithTimeout(ctx, AskLimit)
	defer cancel()
	out, err := childproc.Program{
		Path: gh, Args: []string{"pr", "view", "--json", "number,title,url"},
		Dir: dir, Env: ghEnv(environ, getenv),
	}.Output(ctx, 64<<10)
	if err != nil {
		return Answer{}
	}
	a, err := parseAnswer(out)
	if err != nil {
		return Answer{}
	}
	return a
}

var errAnswer = errors.New("answer of gh not understood")

// parseAnswer reads one flat JSON object; nesting is not followed.
func parseAnswer(out []byte) (Answer, error) {
	obj := gjson.ParseBytes(out)
	if !obj.IsObject() {
		return Answer{}, errAnswer
	}
	number := obj.Get("number")
	if number.Type != gjson.Number || number.Num < 1 || number.Num > 1<<40 {
		return Answer{}, errAnswer
	}
	a := Answer{Number: number.Int()}
	if v := obj.Get("title"); v.Type == gjson.String {
		a.Title = v.Str
	}
	if v := obj.Get("url"); v.Type == gjson.String && len(v.Str) <= maxURL {
		a.URL = v.Str
	}
	return a, nil
}

// ghEnv keeps gh from asking questions, and the git that it starts from
// obeying a program named in the repository's configuration.
func ghEnv(environ []string, getenv func(string) string) []string {
	n, _ := strconv.Atoi(getenv("GIT_CONFIG_COUNT"))
	env := make([]string, 0, len(environ)+8)
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case name == "GIT_CONFIG_COUNT" || name == "GH_FORCE_TTY" || name == "CLICOLOR_FORCE":
		default:
			env = append(env, kv)
		}
	}
	n = max(n, 0)
	return append(env,
		"GIT_CONFIG_COUNT="+strconv.Itoa(n+1),
		"GIT_CONFIG_KEY_"+strconv.Itoa(n)+"=core.fsmonitor", "GIT_CONFIG_VALUE_"+strconv.Itoa(n)+"=false",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1",
	)
}

const maxURL = 2048

// SafeURL returns u if it is a plain web address that may stand in a terminal
// link: http or https, with a host, without a password, ASCII only.
func SafeURL(u string) string {
	if len(u) > maxURL {
		return ""
	}
	for i := range len(u) {
		if u[i] <= 0x20 || u[i] >= 0x7f {
			return ""
		}
	}
	p, err := url.Parse(u)
	if err != nil || p.Scheme != "https" && p.Scheme != "http" || p.Host == "" || p.User != nil {
		return ""
	}
	return u
}
