// Package pins knows which versions of other programs the suite was tried with,
// which of them are installed, and which newer ones are old enough to be tried.
//
// A manifest holds pins (an exact version) and floors (the least one that
// works). Four manifests are laid over each other, field by field: the one in
// the program, the repository's, the user's and the repository's local one.
package pins

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/internal/tomltext"
)

//go:embed pinned-versions.toml
var embedded []byte

// Embedded is the manifest that the program carries.
func Embedded() []byte { return slices.Clone(embedded) }

// EmbeddedName stands for the embedded manifest where a file is named.
const EmbeddedName = "built in"

// defaultCooldown is in days.
const defaultCooldown = 7

// A Tool is one program of the effective manifest.
type Tool struct {
	Name       string
	Version    string // a pin; empty for a floor
	MinVersion string
	Released   string // YYYY-MM-DD
	Cooldown   int    // days
	Platforms  []string
	Purpose    string
	Docs       string
	Upstream   string // URL of a release list in GitHub's form
	Install    map[string]string
	AcceptRisk string
	// Sources name the file of each field, by its key.
	Sources map[string]string
}

// Wanted is the pin, or the floor with "≥".
func (t Tool) Wanted() string {
	if t.Version != "" {
		return t.Version
	}
	return "≥ " + t.MinVersion
}

// Source names the file that the pin or floor comes from.
func (t Tool) Source() string {
	if t.Version != "" {
		return t.Sources["version"]
	}
	return t.Sources["min_version"]
}

// A Layer is one manifest file.
type Layer struct {
	File string
	Data []byte
	// Foreign is set for a file in a repository: it may ask for versions, and
	// for nothing that would be run or fetched.
	Foreign bool
	// Risk lets a foreign file lower a floor with a reason.
	Risk bool
}

// Layers reads the manifest files for a project, weakest first. config is the
// user's configuration directory. Missing files are normal. tracked tells
// whether a file of the repository belongs to it, and is not the person's own.
func Layers(root, config string, tracked func(file string) bool) ([]Layer, error) {
	layers := []Layer{{File: EmbeddedName, Data: embedded}}
	for _, l := range []Layer{
		{File: filepath.Join(root, ".sallyport", "pinned-versions.toml"), Foreign: true},
		{File: filepath.Join(config, "pinned-versions.local.toml")},
		{File: filepath.Join(root, ".sallyport-local", "pinned-versions.local.toml"), Foreign: true, Risk: true},
	} {
		if !filepath.IsAbs(l.File) {
			continue
		}
		data, err := tomltext.Read(l.File)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, &tomltext.Error{File: l.File, Message: err.Error()}
		}
		l.Data = data
		l.Risk = l.Risk && !tracked(l.File)
		layers = append(layers, l)
	}
	return layers, nil
}

type manifestFile struct {
	PinnedAt string               `toml:"pinned_at"`
	Tools    map[string]toolTable `toml:"tools"`
	// Checkouts are read by Checkouts.
	Checkouts map[string]struct {
		Path   string `toml:"path"`
		Remote string `toml:"remote"`
		Branch string `toml:"branch"`
	} `toml:"checkouts"`
}

type toolTable struct {
	Version    *string           `toml:"version"`
	MinVersion *string           `toml:"min_version"`
	Released   *string           `toml:"released"`
	Cooldown   *int              `toml:"cooldown_days"`
	Platforms  []string          `toml:"platforms"`
	Purpose    *string           `toml:"purpose"`
	Docs       *string           `toml:"docs"`
	Upstream   *string           `toml:"upstream_releases"`
	Install    map[string]string `toml:"install"`
	AcceptRisk *string           `toml:"accept_risk"`
}

// Merge lays manifests over each other. The error names file and line.
func Merge(layers []Layer) ([]Tool, error) {
	tools := map[string]*Tool{}
	for _, l := range layers {
		var f manifestFile
		if err := tomltext.Decode(l.File, l.Data, &f, true); err != nil {
			return nil, err
		}
		var pinned time.Time
		if f.PinnedAt != "" {
			var err error
			if pinned, err = parseDate(f.PinnedAt); err != nil {
				return nil, at(l, "", "pinned_at", "%v", err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(f.Tools)) {
			table := f.Tools[name]
			if err := table.check(l, name); err != nil {
				return nil, err
			}
			t := tools[name]
			if t == nil {
				if !plainName(name) {
					return nil, at(l, name, "", "the name of a tool is letters, digits, - and _")
				}
				t = &Tool{Name: name, Cooldown: defaultCooldown, Sources: map[string]string{}, Install: map[string]string{}}
				tools[name] = t
			}
			if err := t.lay(l, table); err != nil {
				return nil, err
			}
			if t.Version != "" && t.Released != "" && !pinned.IsZero() {
				released, _ := parseDate(t.Released)
				if released.AddDate(0, 0, t.Cooldown).After(pinned) {
					return nil, at(l, name, "version", "%s was released %s and pinned %s, within its cooldown of %d days", t.Version, t.Released, f.PinnedAt, t.Cooldown)
				}
			}
		}
	}
	var all []Tool
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		all = append(all, *tools[name])
	}
	return all, nil
}

// check looks at one table alone.
func (table toolTable) check(l Layer, name string) error {
	for key, v := range map[string]*string{"version": table.Version, "min_version": table.MinVersion} {
		if v != nil && !valid(*v) {
			return at(l, name, key, "%q is not a version", *v)
		}
	}
	if table.Version != nil && table.MinVersion != nil {
		return at(l, name, "min_version", "a pin (version) and a floor (min_version) exclude each other; remove one")
	}
	if table.Released != nil {
		if _, err := parseDate(*table.Released); err != nil {
			return at(l, name, "released", "%v", err)
		}
	}
	if table.Cooldown != nil && (*table.Cooldown < 0 || *table.Cooldown > 3650) {
		return at(l, name, "cooldown_days", "want 0 to 3650 days, found %d", *table.Cooldown)
	}
	return nil
}

// lay puts a table's fields over those that are there.
func (t *Tool) lay(l Layer, table toolTable) error {
	set := func(to *string, from *string, key string) {
		if from != nil {
			*to = *from
			t.Sources[key] = l.File
		}
	}
	if table.MinVersion != nil && t.MinVersion != "" && Compare(*table.MinVersion, t.MinVersion) < 0 {
		risk := table.AcceptRisk != nil && strings.TrimSpace(*table.AcceptRisk) != ""
		if l.Foreign && !l.Risk {
			return at(l, t.Name, "min_version", "a repository's file cannot lower the floor %s; your own can, with accept_risk", t.MinVersion)
		}
		if !risk {
			return at(l, t.Name, "min_version", "lowers the floor %s; say why with accept_risk = \"reason\"", t.MinVersion)
		}
	}
	if l.Foreign {
		for key, is := range map[string]bool{"upstream_releases": table.Upstream != nil, "install": table.Install != nil, "docs": table.Docs != nil} {
			if is {
				return at(l, t.Name, key, "%s cannot come from a repository's file: it names what a person would run or open", key)
			}
		}
	}
	set(&t.Version, table.Version, "version")
	set(&t.MinVersion, table.MinVersion, "min_version")
	set(&t.Released, table.Released, "released")
	set(&t.Purpose, table.Purpose, "purpose")
	set(&t.Docs, table.Docs, "docs")
	set(&t.Upstream, table.Upstream, "upstream_releases")
	set(&t.AcceptRisk, table.AcceptRisk, "accept_risk")
	if table.Cooldown != nil {
		t.Cooldown = *table.Cooldown
		t.Sources["cooldown_days"] = l.File
	}
	if table.Platforms != nil {
		t.Platforms = table.Platforms
		t.Sources["platforms"] = l.File
	}
	maps.Copy(t.Install, table.Install)
	// A date belongs to the version it was written with.
	if table.Version != nil && table.Released == nil && t.Sources["released"] != l.File {
		t.Released = ""
	}
	switch {
	case t.Version != "" && t.MinVersion != "":
		return at(l, t.Name, "version", "%s is a floor elsewhere (%s); a pin (version) and a floor (min_version) exclude each other", t.Name, t.Sources["min_version"])
	case t.Version == "" && t.MinVersion == "":
		return at(l, t.Name, "", "needs version (a pin) or min_version (a floor)")
	}
	return nil
}

func parseDate(s string) (time.Time, error) {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return d, fmt.Errorf("%q is not a date (YYYY-MM-DD)", s)
	}
	return d, nil
}

func plainName(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// at is an error with the line of a tool's key.
func at(l Layer, tool, key, format string, args ...any) error {
	e := &tomltext.Error{File: l.File, Line: lineOf(string(l.Data), tool, key), Message: fmt.Sprintf(format, args...)}
	if tool != "" {
		e.Message = "tools." + tool + ": " + e.Message
	}
	return e
}

// lineOf finds the line of a key in a tool's table, or that of the table. The
// decoder keeps no positions; a file written with inline tables gets line 1.
func lineOf(text, tool, key string) int {
	table, header := "", 1
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") {
			name, _, _ := strings.Cut(strings.TrimPrefix(trimmed, "["), "]")
			table = strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(name)
			if tool != "" && table == "tools."+tool {
				header = n
			}
			continue
		}
		found, _, ok := strings.Cut(trimmed, "=")
		found, _, _ = strings.Cut(strings.TrimSpace(found), ".")
		want := ""
		if tool != "" {
			want = "tools." + tool
		}
		if ok && key != "" && found == key && table == want {
			return n
		}
	}
	return header
}
