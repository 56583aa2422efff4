package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Drift compares an installation with what this build would install.
type Drift struct {
	Installed   string        `json:"installed"` // version line; empty if there is no record
	Running     string        `json:"running"`
	InstalledAt string        `json:"installed_at,omitempty"`
	Source      string        `json:"source"` // where the new programs are; empty if nowhere
	Files       []DriftedFile `json:"files"`
	Compared    bool          `json:"compared"` // Wiring was looked at
	// Wiring is the change that the user settings need, as a diff.
	Wiring string   `json:"wiring,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// A DriftedFile is one installed program.
type DriftedFile struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	State  string `json:"state"`
	Target string `json:"target,omitempty"` // of a link
}

// States of a [DriftedFile].
const (
	DriftSame     = "same"
	DriftUpstream = "changed upstream"      // this build has another one
	DriftLocal    = "changed locally"       // somebody changed the installed one
	DriftBoth     = "changed on both sides" // both of that
	DriftMissing  = "missing"
	DriftNew      = "not installed"
)

// Drifted reports that an update would change something, or that somebody did.
func (d Drift) Drifted() bool {
	for _, f := range d.Files {
		if f.State != DriftSame {
			return true
		}
	}
	return d.Wiring != ""
}

// CompareInstall finds out what install would change, without changing it.
func CompareInstall(o InstallOptions) (Drift, error) {
	d := Drift{Running: o.Version, Files: []DriftedFile{}}
	r, err := newRunner(o.Options)
	if err != nil {
		return d, err
	}
	if o.Source == "" {
		self, err := os.Executable()
		if err == nil {
			self, err = filepath.EvalSymlinks(self)
		}
		if err != nil {
			return d, err
		}
		o.Source = filepath.Dir(self)
	}
	o.Source = r.abs(o.Source)
	m, err := readManifest(r.w.state)
	if err != nil {
		d.Notes = append(d.Notes, "the record of the installation cannot be used: "+err.Error())
	}
	if m == nil {
		d.Notes = append(d.Notes, "there is no record of an installation; agent-setup install makes one")
		return d, nil
	}
	d.Installed, d.InstalledAt = m.Version, m.InstalledAt
	have := available(o.Source)
	if real, err := resolve(o.Source); err == nil && len(have) > 0 {
		if prefix, err := resolve(m.Prefix); err != nil || prefix != real {
			d.Source = o.Source
		}
	}
	for _, name := range sortedKeys(m.Binaries) {
		b := m.Binaries[name]
		f := DriftedFile{Name: name, Path: b.Path, Target: b.Target}
		switch {
		case b.Link:
			f.State = linkState(b)
		default:
			f.State = fileState(b, d.Source)
		}
		d.Files = append(d.Files, f)
	}
	if d.Source != "" {
		for _, name := range programs(have) {
			if _, known := m.Binaries[name]; !known {
				d.Files = append(d.Files, DriftedFile{Name: name, Path: filepath.Join(m.Prefix, executable(name)), State: DriftNew})
			}
		}
	}
	if len(have) == 0 {
		return d, nil
	}
	client, found := clientVersion(r.w.lookPath, r.w.environ, 5*time.Second)
	i := &installer{runner: r, o: o, client: client, clientFound: found}
	p, err := i.plan()
	if err != nil {
		return d, err
	}
	d.Compared = true
	settingsFile := filepath.Join(r.w.configDir, "settings.json")
	for _, c := range p.changes {
		if c.Path == settingsFile && c.stage != nil {
			d.Wiring = c.Diff
		}
	}
	return d, nil
}

func linkState(b program) string {
	switch _, err := os.Lstat(b.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return DriftMissing
	case !b.holds():
		return DriftLocal
	}
	if _, err := os.Stat(b.Path); err != nil {
		return DriftMissing // it leads nowhere
	}
	return DriftSame
}

// fileState compares three versions: as it was installed, as it is, and as
// this build has it. That tells who changed it.
func fileState(b program, source string) string {
	now, err := os.ReadFile(b.Path)
	if err != nil {
		return DriftMissing
	}
	local := sum(now) != b.SHA256
	if source == "" {
		return map[bool]string{true: DriftLocal, false: DriftSame}[local]
	}
	next, err := os.ReadFile(filepath.Join(source, filepath.Base(b.Path)))
	upstream := err == nil && sum(next) != b.SHA256
	switch {
	case err == nil && sum(next) == sum(now), !local && !upstream:
		return DriftSame
	case local && upstream:
		return DriftBoth
	case local:
		return DriftLocal
	}
	return DriftUpstream
}
