//go:build !linux && !darwin

package settings

// The arguments of another process are not read here.
func argvOf(int) ([]string, bool) { return nil, false }

func parentOf(int) (int, bool) { return 0, false }
