package pins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"sallyport/internal/atomicfile"
	"sallyport/internal/regularfile"
)

// A Release is one entry of an upstream's list.
type Release struct {
	Version  string
	Released time.Time
	Page     string
}

const (
	fetchLimit  = 10 * time.Second
	maxAnswer   = 2 << 20
	maxReleases = 1000
)

// A Client asks upstreams. Answers are kept in Cache with their entity tags, so
// that asking again costs a server nothing.
type Client struct {
	Cache string // directory, empty for none
	Proxy func(*http.Request) (*url.URL, error)
}

type cached struct {
	URL  string `json:"url"`
	ETag string `json:"etag"`
	Body []byte `json:"body"`
}

// Releases fetches a list in the form of GitHub's. Drafts and pre-releases are
// left out, and so is what has no version for a name.
func (c Client) Releases(ctx context.Context, address string) ([]Release, error) {
	if err := allowed(address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("lookup failed (address)")
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", "sallyport")
	file, old := c.kept(address)
	if old.ETag != "" {
		req.Header.Set("If-None-Match", old.ETag)
	}
	proxy := c.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	client := http.Client{
		Transport: &http.Transport{Proxy: proxy, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("too many redirects")
			}
			return allowed(req.URL.String())
		},
	}
	res, err := client.Do(req)
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil, errors.New("lookup failed (no answer in time)")
		}
		return nil, errors.New("lookup failed (no connection)")
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return parseReleases(old.Body)
	case http.StatusForbidden, http.StatusTooManyRequests:
		return nil, errors.New("lookup failed (rate limit)")
	default:
		return nil, fmt.Errorf("lookup failed (status %d)", res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		return nil, errors.New("lookup failed (answer cut off or too long)")
	}
	releases, err := parseReleases(body)
	if tag := res.Header.Get("ETag"); err == nil && tag != "" && file != "" {
		if data, err := json.Marshal(cached{address, tag, body}); err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
			// Without it the next run asks again; nothing else is lost.
			_ = atomicfile.Write(file, data, 0o600)
		}
	}
	return releases, err
}

// kept is what the cache holds for an address.
func (c Client) kept(address string) (file string, old cached) {
	if c.Cache == "" {
		return "", old
	}
	sum := sha256.Sum256([]byte(address))
	file = filepath.Join(c.Cache, "tools", hex.EncodeToString(sum[:8])+".json")
	data, err := regularfile.Read(file, 2*maxAnswer)
	if err != nil || json.Unmarshal(data, &old) != nil || old.URL != address {
		return file, cached{}
	}
	if _, err := parseReleases(old.Body); err != nil {
		return file, cached{}
	}
	return file, old
}

// allowed takes https, and http on this machine.
func allowed(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && u.User == nil {
		ip := net.ParseIP(u.Hostname())
		if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
			return nil
		}
	}
	return errors.New("lookup failed (not an https address)")
}

func parseReleases(body []byte) ([]Release, error) {
	var list []struct {
		Tag        string    `json:"tag_name"`
		Published  time.Time `json:"published_at"`
		Page       string    `json:"html_url"`
		Draft      bool      `json:"draft"`
		PreRelease bool      `json:"prerelease"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, errors.New("lookup failed (not a list of releases)")
	}
	var all []Release
	for _, r := range list[:min(len(list), maxReleases)] {
		version := r.Tag
		if len(version) > 1 && version[0] == 'v' {
			version = version[1:]
		}
		if r.Draft || r.PreRelease || r.Published.IsZero() || !valid(version) || PreRelease(version) {
			continue
		}
		all = append(all, Release{version, r.Published, r.Page})
	}
	return all, nil
}

// Candidate is the newest release that is greater than the pin and older than
// the cooldown.
func (t Tool) Candidate(releases []Release, now time.Time) (best Release, ok bool) {
	for _, r := range releases {
		if r.Released.AddDate(0, 0, t.Cooldown).After(now) || Compare(r.Version, t.Version) <= 0 {
			continue
		}
		if !ok || Compare(r.Version, best.Version) > 0 {
			best, ok = r, true
		}
	}
	return best, ok
}
