package agentguard

import (
	"fmt"
	"strings"

	"sallyport/guards"
	"sallyport/internal/cli"
	"sallyport/internal/shellcmd"
)

// Exit codes of a check.
const (
	CheckPass = 0
	CheckDeny = 2
	CheckAsk  = 3
)

// Check judges a command given as words and prints the reason, if there is
// one. A single word is a command line; several are the words of one command.
func Check(p *cli.Process, opt *Options, words []string) error {
	rep, err := judgeWords(p, opt, words)
	if err != nil {
		return err
	}
	switch rep.Verdict {
	case guards.Deny:
		fmt.Fprintln(p.Stdout, joinReasons(rep))
		return &cli.ExitError{Code: CheckDeny}
	case guards.Ask:
		fmt.Fprintln(p.Stdout, joinReasons(rep))
		return &cli.ExitError{Code: CheckAsk}
	case guards.Warn:
		fmt.Fprintln(p.Stderr, rep.Reason(guards.Warn))
	}
	return nil
}

func joinReasons(rep *guards.Report) string {
	d := decision(rep)
	return d.Reason
}

func judgeWords(p *cli.Process, opt *Options, words []string) (*guards.Report, error) {
	if len(words) == 0 || len(words) == 1 && strings.TrimSpace(words[0]) == "" {
		return nil, cli.Usagef("no command to check")
	}
	line := words[0]
	if len(words) > 1 {
		line = quoteAll(words)
	}
	s := newSession(p, opt, p.Dir())
	defer s.close()
	if unknown := s.unknownNames(); len(unknown) > 0 {
		return nil, cli.Usagef("no guard is named %s", strings.Join(unknown, ", "))
	}
	rep := guards.Run(s.input(line, shellcmd.Bash), s.all, s.world)
	s.log(nil, rep)
	return rep, nil
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
