package guards

import (
	"slices"
	"strings"
	"sync"
)

// SecurityLanguage refuses pull requests that announce a security fix.
var SecurityLanguage = Guard{
	Name:  "security-language",
	Title: "CVE id or security-fix wording in a public pull request",
	Doc: Doc{
		What:    "gh pr create and gh pr edit (and the same through gh api, and what --fill takes from the commits) whose title or body names a CVE, GHSA or CWE id, or a kind of weakness such as path traversal or authentication bypass.",
		Why:     "A public pull request that names the weakness tells everyone how to use it before the fix is released.",
		Instead: "Describe the change in neutral words, and report the weakness through the project's private channel.",
		Limits:  "Comments, issues and commit messages are not looked at. Repositories that gh knows to be private pass. More words can be added with the option words.",
	},
	Default:   Deny,
	Overrides: []string{"MAGPIE_ALLOW_SECURITY_LANG"},
	Programs:  []string{"gh"},
	Options:   []Option{{Name: "words", Join: ",", Text: "more words and phrases, separated by commas"}},
	Examples: []Example{
		{Command: "gh pr create --title 'Fix CVE-2026-1234' --body patch", Verdict: Deny, Why: "a CVE id"},
		{Command: "gh pr new -t 'Fix path traversal in unzip' -b 'adds a check'", Verdict: Deny, Why: "names the weakness; new is create"},
		{Command: "gh pr edit 12 --body 'closes a buffer overflow in the reader'", Verdict: Deny, Why: "an edit is public too"},
		{Command: "gh pr create --title 'Rename maxsslconns' --body 'config only'", Why: "letters inside another word"},
		{Command: "gh pr comment 5 --body 'this looks like an SQL injection risk'", Setup: "gh:pr_author=octo-author\ngh:viewer=octo-author", Why: "comments are out of scope"},
		{Command: "git commit -m 'Bump CVE-2026-0001 fixture'", Why: "no pull request"},
		{Command: "gh pr view 5 --json title,body | grep -i CVE-2026-1234", Why: "reads only"},
		{Command: "gh pr create --title 'Update deps' --body 'npm audit: found 0 vulnerabilities'", Why: "says that there are none"},
		{Command: "gh pr create --title 'docs: link the security policy' --body 'see SECURITY.md'", Why: "speaks of security, not of a weakness"},
	},
	Check: checkSecurityLanguage,
}

// weaknesses are phrases in lower case; a blank stands for blanks and hyphens.
// A word that ends in "*" also matches longer words.
const weaknesses = `cross site scripting|xss|csrf|xsrf|cross site request forgery|sql injection|sqli|nosql injection|ldap injection|command injection|shell injection|code injection|template injection|ssti|header injection|crlf injection|log injection|xpath injection|argument injection|html injection|script injection|xml injection|injection attack*|path traversal|directory traversal|zip slip|zipslip|buffer overflow|buffer overrun|heap overflow|heap buffer overflow|stack buffer overflow|stack overflow vulnerab*|integer overflow vulnerab*|use after free|double free|out of bounds read|out of bounds write|out of bounds memory|out of bounds access|oob read|oob write|oob access|memory corruption|type confusion|remote code execution|arbitrary code execution|rce|arbitrary file read|arbitrary file write|arbitrary file upload|arbitrary file overwrite|arbitrary file delet*|arbitrary command execution|local file inclusion|remote file inclusion|privilege escalation|escalation of privilege*|escalat* privilege*|privesc|authentication bypass|authorization bypass|auth bypass|bypass authentication|bypass authorization|bypass of auth*|access control bypass|broken access control|permission bypass|sandbox bypass|container escape|ssrf|server side request forgery|xxe|xml external entit*|insecure deserialization|unsafe deserialization|deserialization attack*|prototype pollution|open redirect|request smuggling|response splitting|clickjacking|session fixation|session hijack*|timing attack*|timing side channel|side channel attack*|side channel leak*|denial of service|redos|ddos|information disclosure|information leak*|credential leak*|leaked credential*|leaks credential*|leaked secret*|hardcoded password*|hard coded password*|hardcoded credential*|hard coded credential*|hardcoded secret*|hard coded secret*|backdoor|zero day|0day|security fix|security fixes|security bug|security bugs|security hole|security holes|security flaw|security flaws|security vulnerabilit*|security patch|security patches|security weakness*|security defect*|security problem*|security risk|security threat|security concern|fix vulnerabilit*|fixes vulnerabilit*|exploitable|exploited in the wild|proof of concept exploit|fix* exploit|prevent* exploit*|mitigate* exploit*|idor|insecure direct object reference*|malicious input|malicious user|malicious file|malicious request`

// doubtful are phrases that mean a weakness only without some words around
// them: the process, a game, a retention of nought days.
var doubtful = []struct {
	phrase string
	after  []string // words behind the phrase
}{
	{"security issue", []string{"template", "templates", "form", "label", "labels", "tracker", "board"}},
	{"security issues", []string{"template", "templates", "page", "label"}},
	{"security advisory", []string{"process", "template", "page", "feed", "database", "workflow", "api", "board", "format"}},
	{"security advisories", []string{"process", "template", "page", "feed", "database", "workflow", "api", "tab"}},
	{"sandbox escape", []string{"sequence", "sequences", "character", "characters", "key", "code", "codes"}},
	{"0 day", []string{"retention", "old", "ago", "trial", "window", "range", "interval", "interest", "log", "streak", "period", "difference", "offset"}},
	{"attacker", []string{"unit", "units", "moves", "piece", "class", "sprite", "player", "hp", "stat", "stats", "side"}},
}

func checkSecurityLanguage(c *Call) []Finding {
	for _, p := range c.posts() {
		if p.issue || p.kind != "create" && p.kind != "edit" {
			continue
		}
		where := "title"
		hit := securityWord(p.title, c.Option("security-language", "words", ""))
		if hit == "" {
			where = "body"
			hit = securityWord(p.body, c.Option("security-language", "words", ""))
		}
		if hit == "" || c.private(&p) {
			continue
		}
		return []Finding{{
			Found: Quote(hit) + " in the " + where + " of a pull request",
			Why:   "it tells the public of a weakness before the fix is released",
			Fix:   "Describe the change in neutral words and report the weakness through the project's private channel",
			Words: []string{hit},
		}}
	}
	return nil
}

// private reports whether gh knows the repository to be hidden from the public.
func (c *Call) private(p *post) bool {
	args := []string{"repo", "view"}
	if p.repo != "" {
		args = append(args, p.repo)
	}
	out, ok := c.gh(append(args, "--json", "visibility", "--jq", ".visibility")...)
	return ok && (out == "PRIVATE" || out == "INTERNAL")
}

// securityWord returns the first id or phrase that speaks of a weakness.
func securityWord(text, more string) string {
	if text == "" {
		return ""
	}
	words := tokens(text)
	for i, w := range words {
		if id := identifier(words[i:]); id != "" {
			return id
		}
		if strings.HasPrefix(w.text, "vulnerab") && !harmless(words, i) {
			return w.text
		}
		// In another case these are words and names.
		if w.raw == "DoS" || w.raw == "UAF" && (i == 0 || words[i-1].text != "fido") {
			return w.raw
		}
	}
	if hit := phrases().find(words); hit != "" {
		return hit
	}
	for phrase := range strings.SplitSeq(more, ",") {
		var pattern []string
		for _, t := range tokens(phrase) {
			pattern = append(pattern, t.text)
		}
		if hit := findPhrase(words, pattern); hit != "" {
			return hit
		}
	}
	return ""
}

// A token is a run of letters and digits in lower case; glued says that only
// hyphens part it from the one before.
type token struct {
	text  string
	raw   string // as written
	blank bool   // parted from the token before by blanks or hyphens only
	glued bool   // parted by one hyphen
}

func tokens(text string) []token {
	var out []token
	sep := ""
	start := -1
	flush := func(end int) {
		if start >= 0 {
			onlyBlank := strings.Trim(sep, " \t\r\n-‐‑–*_`'\"") == ""
			out = append(out, token{strings.ToLower(text[start:end]), text[start:end], onlyBlank, sep == "-" || sep == "‑" || sep == "‐" || sep == "–"})
			start, sep = -1, ""
		}
	}
	for i, r := range text {
		switch {
		case r < 0x80 && (isLoginByte(byte(r))), r >= 0x80 && r != '‐' && r != '‑' && r != '–' && r != '\u00a0':
			if start < 0 {
				start = i
			}
		default:
			flush(i)
			sep += string(r)
			if len(sep) > 16 {
				sep = sep[:16]
			}
		}
	}
	flush(len(text))
	return out
}

// identifier reads CVE-2026-1234, GHSA-xxxx-xxxx-xxxx and CWE-79.
func identifier(w []token) string {
	digits := func(i, least int) bool {
		return i < len(w) && w[i].blank && len(w[i].text) >= least && strings.Trim(w[i].text, "0123456789") == ""
	}
	switch w[0].text {
	case "cve":
		if digits(1, 4) && len(w[1].text) == 4 && digits(2, 4) {
			return "CVE-" + w[1].text + "-" + w[2].text
		}
	case "cwe":
		if digits(1, 1) && w[1].glued {
			return "CWE-" + w[1].text
		}
	case "ghsa":
		if len(w) > 3 && w[1].glued && w[2].glued && w[3].glued && len(w[1].text) == 4 && len(w[2].text) == 4 && len(w[3].text) == 4 {
			return "GHSA-" + w[1].text + "-" + w[2].text + "-" + w[3].text
		}
	}
	return ""
}

// harmless reports a "vulnerability" that names a process, that is not there, or
// that has nothing to do with software.
func harmless(words []token, i int) bool {
	if denied(words, i) {
		return true
	}
	if i+1 < len(words) && words[i+1].blank {
		switch strings.TrimSuffix(words[i+1].text, "s") {
		case "scan", "scanner", "scanning", "report", "reporting", "disclosure", "policy", "database", "management", "check", "checker", "alert", "dashboard",
			"specie", "people", "population", "community", "communitie", "group", "adult", "children", "customer":
			return true
		}
	}
	for back := 1; back <= 2 && i-back >= 0 && words[i-back+1].blank; back++ {
		switch w := words[i-back].text; {
		case strings.HasPrefix(w, "report"), strings.HasPrefix(w, "disclos"), strings.HasPrefix(w, "scan"), strings.HasPrefix(w, "triag"):
			return true
		case w != "a" && w != "any" && w != "for" && w != "security" && w != "known" && w != "of":
			return false
		}
	}
	return false
}

// denied reports whether what stands at i is said not to be there: "found 0
// vulnerabilities", "no known security issues".
func denied(words []token, i int) bool {
	for back := 1; back <= 3 && i-back >= 0 && words[i-back+1].blank; back++ {
		switch words[i-back].text {
		case "no", "0", "zero", "without":
			return true
		case "known", "new", "high", "critical", "moderate", "low", "severity", "any", "security":
		default:
			return false
		}
	}
	return false
}

// phraseIndex are the phrases by their first word, and those whose first word
// is only the beginning of one, so that a text is gone through once.
type phraseIndex struct {
	byWord map[string][]phrase
	open   []phrase
}

type phrase struct {
	words []string
	after []string // behind these it means something else
}

var phrases = sync.OnceValue(func() *phraseIndex {
	x := &phraseIndex{byWord: map[string][]phrase{}}
	add := func(text string, after []string) {
		p := phrase{strings.Fields(text), after}
		if strings.HasSuffix(p.words[0], "*") {
			x.open = append(x.open, p)
			return
		}
		x.byWord[p.words[0]] = append(x.byWord[p.words[0]], p)
	}
	for text := range strings.SplitSeq(weaknesses, "|") {
		add(text, nil)
	}
	for _, d := range doubtful {
		add(d.phrase, d.after)
	}
	return x
})

func (x *phraseIndex) find(words []token) string {
	for i, w := range words {
		lists := [...][]phrase{x.byWord[w.text], x.byWord[strings.TrimSuffix(w.text, "s")], x.byWord[strings.TrimSuffix(w.text, "es")], x.open}
		for _, list := range lists {
			for _, p := range list {
				end := i + len(p.words)
				if !startsPhrase(words[i:], p.words) || p.words[0] == "security" && denied(words, i) ||
					end < len(words) && words[end].blank && slices.Contains(p.after, words[end].text) {
					continue
				}
				return phraseText(words[i:end])
			}
		}
	}
	return ""
}

func findPhrase(words []token, phrase []string) string {
	for i := range words {
		if len(phrase) > 0 && startsPhrase(words[i:], phrase) {
			return phraseText(words[i : i+len(phrase)])
		}
	}
	return ""
}

func startsPhrase(words []token, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for j, p := range phrase {
		w := words[j]
		if j > 0 && !w.blank {
			return false
		}
		if stem, open := strings.CutSuffix(p, "*"); open && strings.HasPrefix(w.text, stem) {
			continue
		}
		// Plurals of the last word count.
		if w.text != p && !(j == len(phrase)-1 && len(p) > 3 && (w.text == p+"s" || w.text == p+"es")) {
			return false
		}
	}
	return true
}

func phraseText(words []token) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.text
	}
	return strings.Join(parts, " ")
}
