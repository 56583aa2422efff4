package settings

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
)

// osPolicies finds configuration profiles for the client's preference domain.
// What they say is not read here (they are binary property lists), so a profile
// leaves open what it may decide.
func osPolicies() []Policy {
	const dir, name = "/Library/Managed Preferences", "com.anthropic.claudecode.plist"
	paths := []string{filepath.Join(dir, name)}
	if u, err := user.Current(); err == nil {
		paths = []string{filepath.Join(dir, u.Username, name), paths[0]}
	}
	var policies []Policy
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			policies = append(policies, Policy{Name: path, Err: errors.New("a configuration profile, whose content is not read here")})
		}
	}
	return policies
}
