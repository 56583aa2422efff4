package agentguard

import "sallyport/internal/cli"

func Test(p *cli.Process, opt *Options, words []string) error { return nil }
func Log(p *cli.Process, words []string, j bool) error        { return nil }
func Replay(p *cli.Process, opt *Options, words []string, n int, j bool) error {
	return nil
}
