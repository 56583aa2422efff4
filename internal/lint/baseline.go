package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sallyport/settings"
)

// baselineFiles are looked for, in order, where no baseline is named.
var baselineFiles = []string{".claude/sandbox-baseline.json", "tools/sandbox-lint/expected.json"}

func (r *run) findBaseline() string {
	for _, name := range baselineFiles {
		if _, err := statFile(r.resolve(name)); err == nil {
			return name
		}
	}
	return ""
}

var baselineRules = []check[struct{}]{
	{Rule: Rule{ID: "BL201", Severity: Error,
		Summary: "a set-typed list has an entry more or less than the baseline",
		Why:     "the configuration has drifted from what was reviewed",
		Example: `settings: {"permissions": {"deny": []}}, baseline: {"permissions": {"deny": ["Bash(curl *)"]}}`,
		Fix:     "take the change back, or have it reviewed and run sandbox-lint baseline write"}},
	{Rule: Rule{ID: "BL202", Severity: Error,
		Summary: "a key stands in only one of settings and baseline",
		Why:     "the configuration has drifted from what was reviewed",
		Example: `settings: {"sandbox": {}}, baseline: {}`,
		Fix:     "take the change back, or have it reviewed and run sandbox-lint baseline write"}},
	{Rule: Rule{ID: "BL203", Severity: Error,
		Summary: "a value or an ordered list differs from the baseline",
		Why:     "the configuration has drifted from what was reviewed",
		Example: `settings: {"model": "a"}, baseline: {"model": "b"}`,
		Fix:     "take the change back, or have it reviewed and run sandbox-lint baseline write"}},
	{Rule: Rule{ID: "BL204", Severity: Error,
		Summary: "a value has another type than in the baseline",
		Why:     "the client reads it differently, or not at all",
		Example: `settings: {"sandbox": {"enabled": "true"}}, baseline: {"sandbox": {"enabled": true}}`,
		Fix:     "write a value of the baseline's type"}},
	{Rule: Rule{ID: "BL205", Severity: Error,
		Summary: "no baseline was found and --no-baseline was not given",
		Why:     "without one nobody notices that a change loosens the configuration within the rules",
		Example: "a repository without .claude/sandbox-baseline.json",
		Fix:     "run sandbox-lint baseline write and commit the file, or pass --no-baseline"}},
}

// setLists are compared without regard to order and repetition.
var setLists = []string{"denyRead", "allowRead", "allowWrite", "allowedDomains", "excludedCommands", "deny", "ask",
	"allow", "denyWrite", "deniedDomains", "allowUnixSockets", "allowMachLookup", "additionalDirectories"}

// parity compares settings with the baseline, both ways.
func (r *run) parity(got, want *value) {
	report := reporter{run: r}
	report.parity(got, want)
}

func (r reporter) parity(got, want *value) {
	if got.kind != want.kind {
		r.as("BL204").at(got, fmt.Sprintf("%s: type mismatch (settings has %s, expected has %s)", dollar(got.path()), kindName(got.kind), kindName(want.kind)), related(want))
		return
	}
	switch got.kind {
	case settings.Object:
		g, w := byName(got), byName(want)
		for _, g := range got.children() {
			if ignoredByParity(g) {
				continue
			}
			if w := w[g.name]; w == nil {
				r.as("BL202").at(g, dollar(g.path())+": extra in settings", related(want))
			} else {
				r.parity(g, w)
			}
		}
		for _, w := range want.children() {
			if !ignoredByParity(w) && g[w.name] == nil {
				r.as("BL202").under(got, []string{w.name}, dollar(joinPath(got.path(), []string{w.name}))+": missing in settings", related(w), of(w.compact()))
			}
		}
	case settings.Array:
		if slices.Contains(setLists, got.name) && allStrings(got) && allStrings(want) {
			r.sets(got, want)
		} else if !equal(got, want) {
			r.differ(got, want)
		}
	default:
		if !equal(got, want) {
			r.differ(got, want)
		}
	}
}

func byName(object *value) map[string]*value {
	m := make(map[string]*value, len(object.children()))
	for _, kid := range object.children() {
		m[kid.name] = kid
	}
	return m
}

func ignoredByParity(v *value) bool {
	return v.parent.parent == nil && (v.name == "$schema" || strings.HasPrefix(v.name, "_") || strings.HasPrefix(v.name, "//"))
}

func dollar(path string) string {
	switch {
	case path == "":
		return "$"
	case path[0] == '[':
		return "$" + path
	}
	return "$." + path
}

func (r reporter) differ(got, want *value) {
	r.as("BL203").at(got, fmt.Sprintf("%s: settings=%s expected=%s", dollar(got.path()), shown(got), shown(want)), related(want))
}

func allStrings(v *value) bool { return len(v.strings()) == len(v.children()) }

// sets reports the differences of two lists, sorted by entry.
func (r reporter) sets(got, want *value) {
	index := func(v *value) map[string]*value {
		m := make(map[string]*value, len(v.children()))
		for _, e := range v.children() {
			if _, ok := m[e.text]; !ok {
				m[e.text] = e
			}
		}
		return m
	}
	g, w := index(got), index(want)
	for _, text := range sortedKeys(g) {
		if _, ok := w[text]; !ok {
			r.as("BL201").at(g[text], fmt.Sprintf("%s: extra entry %s", dollar(got.path()), shown(g[text])), related(want),
				func(f *Finding) { f.Path, f.Pointer = got.path(), g[text].pointer() })
		}
	}
	for _, text := range sortedKeys(w) {
		if _, ok := g[text]; !ok {
			r.as("BL201").at(got, fmt.Sprintf("%s: missing entry %s", dollar(got.path()), shown(w[text])), related(w[text]), of(text))
		}
	}
}

func sortedKeys(m map[string]*value) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// equal compares values: objects by key, numbers by value.
func equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case settings.Object:
		if len(a.children()) != len(b.children()) {
			return false
		}
		others := byName(b)
		for _, kid := range a.children() {
			if other := others[kid.name]; other == nil || !equal(kid, other) {
				return false
			}
		}
		return true
	case settings.Array:
		if len(a.children()) != len(b.children()) {
			return false
		}
		for i, kid := range a.children() {
			if !equal(kid, b.children()[i]) {
				return false
			}
		}
		return true
	case settings.String:
		return a.text == b.text
	case settings.Number:
		return sameNumber(a.source(), b.source())
	}
	return a.source() == b.source()
}

// sameNumber compares JSON numbers by value, whatever their exponents.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := decimal(a)
	y, okY := decimal(b)
	return okX && okY && x == y
}

type number struct {
	negative bool
	digits   string // without zeros at either end
	exponent int64
}

func decimal(s string) (n number, ok bool) {
	s, n.negative = strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	if hasExp {
		if len(exp) > 12 {
			return n, false
		}
		if _, err := fmt.Sscanf(exp, "%d", &n.exponent); err != nil {
			return n, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exponent -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	n.digits = strings.TrimRight(digits, "0")
	n.exponent += int64(len(digits) - len(n.digits))
	if n.digits == "" {
		return number{}, true
	}
	return n, true
}

// shown is a value for a message, without what looks like a secret.
func shown(v *value) string {
	var b strings.Builder
	v.write(&b, func(names []string, text string) string {
		if slices.ContainsFunc(names, secretName().MatchString) && secretText().MatchString(text) {
			return "<redacted>"
		}
		return text
	})
	return clip(b.String())
}

var (
	secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)token|secret|password|key`) })
	secretText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_\-]{20,}`) })
)

// FindBaseline is the baseline that [Claude] would take without a name, or the
// first place where it looks.
func FindBaseline(cfg Config) string {
	if found := newRun(cfg, "").findBaseline(); found != "" {
		return found
	}
	return baselineFiles[0]
}
