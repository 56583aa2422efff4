//go:build !windows

package dirs

// Home is the person's home directory, empty if the environment names none.
func Home(getenv func(string) string) string { return getenv("HOME") }
