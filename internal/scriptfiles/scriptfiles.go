// Package scriptfiles reads short programs in script languages for the files that
// they change: which are named by a literal, a variable that holds one, or a path
// built from them.
//
// A program is split into tokens, and expressions are evaluated as far as they
// consist of texts. A value is a pattern in which * stands for what is not known.
// Nothing is run. The work is bounded by the length of the program; one that
// takes more is [Program.Exhausted].
package scriptfiles

// Exhausted reports that the program took more work than is done for one, so
// that changes may be missing.
func (p *Program) Exhausted() bool { return p.steps < 0 }

// Spent reports that the look at its texts took more work than is done for one.
func (p *Program) Spent() bool { return p.steps < -len(p.toks)*20 }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
