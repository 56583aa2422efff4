// Package dirs knows where the suite keeps its own files for a person:
// configuration, state and cache, after the XDG base directory specification.
package dirs

import "path/filepath"

const product = "sallyport"

// Config is the directory of files that a person edits. It and its siblings
// are empty when neither the XDG variable nor a home directory is known; XDG
// ignores a variable that holds a relative path, and so do they.
func Config(getenv func(string) string) string { return in(getenv, "XDG_CONFIG_HOME", ".config") }

// State is the directory of what must survive a restart but is not edited.
func State(getenv func(string) string) string { return in(getenv, "XDG_STATE_HOME", ".local/state") }

// Cache is the directory of what can be deleted at any time.
func Cache(getenv func(string) string) string { return in(getenv, "XDG_CACHE_HOME", ".cache") }

func in(getenv func(string) string, variable, fallback string) string {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, product)
	}
	home := Home(getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(fallback), product)
}
