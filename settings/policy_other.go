//go:build !windows && !darwin

package settings

// osPolicies: the client has managed files only on this system.
func osPolicies() []Policy { return nil }
