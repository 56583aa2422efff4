package gitdir

// Windows reports a file in the place of a directory as not existing.
func isNotDir(error) bool { return false }
