package guards

// Bundled returns the guards of the product in the order in which they look and
// are listed.
func Bundled() []*Guard {
	return []*Guard{
		&CommitTrailer,
		&NoVerify,
		&EmptyRebase,
		&Mention,
		&MarkReady,
		&SecurityLanguage,
		&Destructive,
		&SelfProtect,
		&Credentials,
	}
}
