package ghcmd

import (
	"strings"

	"sallyport/internal/shellcmd"
)

// A Request is what a gh api call would send.
type Request struct {
	Method   string // in upper case; empty if it is not known
	Endpoint string // as written, without a leading slash, host and query
	Query    string
	GraphQL  bool
	Fields   []Field // -f, -F and the query's parameters
	// Input is the file that --input names: "-" is stdin.
	Input    shellcmd.Word
	HasInput bool
}

// A Field is one key=value of a request. A value of @file stands with Raw false.
type Field struct {
	Key   string
	Value shellcmd.Word
	Raw   bool // -f: the value is text; -F reads @file and converts numbers
}

// Write reports whether the request may change something: any method but GET
// and HEAD; for GraphQL a query whose text names a mutation or is not known.
func (r *Request) Write() bool {
	if r.GraphQL {
		for _, f := range r.Fields {
			if f.Key == "query" {
				return !f.Value.Static || !f.Raw && strings.HasPrefix(f.Value.Value, "@") || strings.Contains(f.Value.Value, "mutation")
			}
		}
		return true
	}
	return r.Method != "GET" && r.Method != "HEAD"
}

// Field returns the last value of a field.
func (r *Request) Field(key string) (Field, bool) {
	for i := len(r.Fields) - 1; i >= 0; i-- {
		if r.Fields[i].Key == key {
			return r.Fields[i], true
		}
	}
	return Field{}, false
}

// Path splits the endpoint: "repos", owner, name, …, each without escapes.
func (r *Request) Path() []string {
	parts := strings.Split(r.Endpoint, "/")
	for i := range parts {
		parts[i] = unescape(parts[i], false)
	}
	return parts
}

// API returns the request of a gh api call.
func (c *Call) API() (*Request, bool) {
	if len(c.Command) != 1 || c.Command[0] != "api" || c.Help {
		return nil, false
	}
	r := &Request{}
	if len(c.Operands) > 0 {
		r.Endpoint = c.Operands[0].Value
	}
	if path, ok := afterHost(r.Endpoint); ok {
		r.Endpoint = strings.TrimPrefix(path, "/api/v3")
	}
	r.Endpoint, _, _ = strings.Cut(r.Endpoint, "#")
	if path, query, ok := strings.Cut(r.Endpoint, "?"); ok {
		r.Endpoint, r.Query = path, query
	}
	r.Endpoint = strings.Trim(r.Endpoint, "/")
	endpoint := "/" + unescape(r.Endpoint, false)
	r.GraphQL = strings.HasSuffix(endpoint, "/graphql")
	for _, f := range c.Flags {
		switch f.Name {
		case "raw-field", "field":
			key, value, ok := f.Value.Cut("=")
			if !ok && !f.Value.Static {
				continue
			}
			r.Fields = append(r.Fields, Field{Key: key, Value: value, Raw: f.Name == "raw-field"})
		case "input":
			r.Input, r.HasInput = f.Value, true
		}
	}
	for pair := range strings.SplitSeq(r.Query, "&") {
		if key, value, _ := strings.Cut(pair, "="); pair != "" {
			r.Fields = append(r.Fields, Field{Key: unescape(key, true), Value: shellcmd.NewWord(unescape(value, true)), Raw: true})
		}
	}
	body := r.HasInput
	for _, f := range c.Flags {
		body = body || f.Name == "raw-field" || f.Name == "field"
	}
	r.Method = "GET"
	if body || r.GraphQL {
		r.Method = "POST"
	}
	if f, ok := c.Flag("method"); ok {
		r.Method = ""
		if f.Value.Static {
			r.Method = strings.ToUpper(f.Value.Value)
		}
	}
	return r, true
}
