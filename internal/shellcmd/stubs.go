package shellcmd

type language struct{}

func interpreterFor(name string) *language                                             { return nil }
func (w *walker) runInterpreter(sh *shell, inv *invocation, cmd *Command, l *language) {}
func (w *walker) runCode(sh *shell, inv *invocation, l *language, text, layer string)  {}
func stringLiteral(s string, x bool) (string, int, bool)                               { return "", 0, false }
