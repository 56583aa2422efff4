package guards

// Overridden is the line with the override that the reason tells, if it tells
// where that stands.
func (res *Result) Overridden() (string, bool) {
	c := res.Call
	if c == nil {
		return "", false
	}
	hint := c.assignment(res.Guard.overrideHint())
	if source, ok := c.wholeLine(); ok {
		return hint + " " + source, true
	}
	o := c.outermost()
	if o == nil {
		return "", false
	}
	source, at := o.Line().Source, o.Args[0].Pos
	return source[:at] + hint + " " + source[at:], true
}
