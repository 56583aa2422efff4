// Package template holds the recommended project settings of a coding agent,
// with the reason for each, and merges them into a settings file.
//
// A merge is a union. What stands in the file stays, whatever the template
// says: an entry that the file denies is not allowed, a value that differs is
// reported and kept, and everything the template does not know is listed as the
// project's own.
package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Group is a part of the template that is chosen as a whole.
type Group string

// Groups. Base is in every level, the others are additions.
const (
	Base    Group = "base"
	GitHub  Group = "github"
	Python  Group = "python"
	Node    Group = "node"
	Go      Group = "go"
	Rust    Group = "rust"
	Java    Group = "java"
	GPG     Group = "gpg"
	SSHSign Group = "ssh-sign"
	// Container lets the command line programs of Docker Desktop start.
	Container Group = "container"
)

// A Level is a choice of groups with a name.
type Level struct {
	Name  string
	Title string
}

// Levels lists the levels, loosest first.
func Levels() []Level {
	return []Level{
		{"minimal", "the base: sandbox on, home closed, credentials and settings protected, no host allowed"},
		{"recommended", "the base, github, and the languages whose manifest files stand in the project"},
		{"strict", "recommended, with the rows marked strict; the same as --strict"},
	}
}

// An Addition describes a group that can be added to a level.
type Addition struct {
	Group Group
	Title string
	// Manifests are the files by which a project shows that it needs the group.
	Manifests []string
}

// Additions lists what can be added.
func Additions() []Addition {
	return []Addition{
		{GitHub, "the gh program: its network hosts, reads without a question, writes with one", nil},
		{Python, "uv, pip and their caches", []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "uv.lock"}},
		{Node, "npm and its cache", []string{"package.json"}},
		{Go, "the Go module cache", []string{"go.mod", "go.work"}},
		{Rust, "cargo and its caches", []string{"Cargo.toml"}},
		{Java, "the caches of Gradle and Maven", []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}},
		{GPG, "commits signed with GnuPG", nil},
		{SSHSign, "commits signed with an ssh key: the one public key file that git names, for this machine only", nil},
		{Container, "the docker command line program and its plugins", nil},
	}
}

// Names lists every word that a choice may hold.
func Names() []string {
	var names []string
	for _, l := range Levels() {
		names = append(names, l.Name)
	}
	for _, a := range Additions() {
		names = append(names, string(a.Group))
	}
	return names
}

// A Choice is what a person asked for.
type Choice struct {
	Level     string
	Additions []Group
}

// An UnknownError is a word that names neither a level nor an addition.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown preset %q", e.Name) }

// Choose reads the words of a choice: at most one level, recommended without
// one, and any number of additions.
func Choose(words []string) (c Choice, err error) {
	for _, word := range words {
		switch {
		case slices.ContainsFunc(Levels(), func(l Level) bool { return l.Name == word }):
			if c.Level != "" && c.Level != word {
				return c, fmt.Errorf("%s and %s are both levels; name one", c.Level, word)
			}
			c.Level = word
		case slices.ContainsFunc(Additions(), func(a Addition) bool { return string(a.Group) == word }):
			c.add(Group(word))
		default:
			return c, &UnknownError{word}
		}
	}
	c.Level = cmp.Or(c.Level, "recommended")
	return c, nil
}

func (c *Choice) add(g Group) {
	if !slices.Contains(c.Additions, g) {
		c.Additions = append(c.Additions, g)
	}
}

// Strict reports whether the strict rows are in.
func (c Choice) Strict() bool { return c.Level == "strict" }

// For adds what the level finds in a project's directory.
func (c Choice) For(dir string) Choice {
	out := Choice{Level: c.Level, Additions: slices.Clone(c.Additions)}
	if out.Level == "minimal" {
		return out
	}
	out.add(GitHub)
	for _, a := range Additions() {
		for _, name := range a.Manifests {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				out.add(a.Group)
			}
		}
	}
	return out
}

// String is the choice as --preset takes it.
func (c Choice) String() string {
	words := []string{c.Level}
	for _, a := range Additions() { // in one order, however it was typed
		if slices.Contains(c.Additions, a.Group) {
			words = append(words, string(a.Group))
		}
	}
	return strings.Join(words, ",")
}

// A Row is one key of the template, or some entries of a list.
type Row struct {
	Key    string   // dotted path
	Values []string // JSON texts; of a list its entries
	List   bool
	// Name is the member that tells the objects of a list apart.
	Name   string
	Group  Group
	Strict bool // only with the level strict
	// Local rows depend on the machine and go to the local settings file.
	Local bool
	// Required entries of permissions.deny are what verify misses.
	Required bool
	// Asked rows get their values from the installed tools, by this command.
	Asked string
	Why   string
}

// Path is the key as a path.
func (r Row) Path() []string { return strings.Split(r.Key, ".") }

// Rows lists the rows of a choice in the order of the table. Rows that are
// asked for carry no values yet.
func (c Choice) Rows() []Row {
	var out []Row
	for _, r := range Table() {
		if (r.Group == Base || slices.Contains(c.Additions, r.Group)) && (!r.Strict || c.Strict()) {
			out = append(out, r)
		}
	}
	return out
}

// Required lists the deny rules that every project needs.
func Required() []string {
	var rules []string
	for _, r := range Table() {
		if r.Required {
			for _, v := range r.Values {
				rules = append(rules, textOf(v))
			}
		}
	}
	return rules
}

// textOf is the string that a JSON text spells, the text itself for anything else.
func textOf(value string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return value
	}
	return s
}

func quoted(texts ...string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		data, err := json.Marshal(s)
		if err != nil {
			panic(err) // strings always encode
		}
		out[i] = string(data)
	}
	return out
}

// GitHubWrites lists the rules for commands of gh that change something.
func GitHubWrites() []string { return ghWrites() }
