package statusline

// Symbols are the marks of the line. Those with a trailing blank stand before
// a text and may be empty.
type Symbols struct {
	Dirty, Ahead, Behind, Stale string
	Branch, Folder, PR, Model   string
	BarFull, BarEmpty           string
}

// SymbolNames are the sets of symbols there are.
func SymbolNames() []string { return []string{"ascii", "unicode", "nerd"} }

// SymbolsNamed finds a set by its name.
func SymbolsNamed(name string) (Symbols, bool) {
	switch name {
	case "ascii":
		return symbolsASCII, true
	case "unicode":
		return symbolsUnicode, true
	case "nerd":
		return symbolsNerd, true
	}
	return Symbols{}, false
}

var symbolsASCII = Symbols{Dirty: "*", Ahead: "+", Behind: "-", Stale: "~", BarFull: "#", BarEmpty: "-"}

var symbolsUnicode = Symbols{Dirty: "●", Ahead: "↑", Behind: "↓", Stale: "≈", BarFull: "█", BarEmpty: "░"}

// symbolsNerd needs a font of the Nerd Fonts project.
var symbolsNerd = Symbols{
	Dirty: "\uf444", Ahead: "\uf062", Behind: "\uf063", Stale: "\uf017",
	Branch: "\ue0a0 ", Folder: "\uf07b ", PR: "\uf407 ", Model: "\uee0d ",
	BarFull: "█", BarEmpty: "░",
}
