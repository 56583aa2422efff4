package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A fault is a value that the client's schema rejects.
type fault struct {
	at      Node
	message string
}

// validate looks for the first value that makes the client drop the whole
// file. One wrong type anywhere does: a file with "model": 3 switches its
// sandbox setting off as well.
//
// The rules are those of [schemaVersion] and are applied to every version:
// what older clients reject has not been looked at.
func validate(doc *Document) (fault, bool) {
	root := doc.Root()
	if root.Kind() != Object {
		return fault{root, "settings must be an object, not " + root.Kind().String()}, true
	}
	if f, bad := checkMembers(root, ""); bad {
		return f, bad
	}
	return strayHook(root, 0, true)
}

func checkMembers(object Node, path string) (f fault, bad bool) {
	object.Each(func(name string, value Node) bool {
		f, bad = checkMember(value, path, name)
		return !bad
	})
	return f, bad
}

func checkMember(value Node, path, name string) (fault, bool) {
	if path == "" && name == "hooks" {
		return checkHooks(value)
	}
	spec, at := "", ""
	// A name with a dot or bracket would read as a path.
	if !strings.ContainsAny(name, ".[*") {
		at = name
		if path != "" {
			at = path + "." + name
		}
		spec = schemaSpec(at)
	}
	if spec == "" && path != "" {
		at = path + ".*"
		spec = schemaSpec(at)
	}
	if spec == "" {
		return fault{}, false
	}
	return check(value, spec, at, name)
}

// check applies one spec: the letters of the kinds that are accepted, n null,
// b boolean, s string, d number, a array, o object. "s!" is a string that is not
// empty. A number is followed by "+" if it may not be negative, "p" if it must
// be positive, "i" if it must be an integer, "u" if it may not be above 1. Then
// "=a|b" lists the only strings, ":a,b" the members an object must have.
func check(value Node, spec, path, name string) (fault, bool) {
	kinds, required, _ := strings.Cut(spec, ":")
	kinds, literals, isEnum := strings.Cut(kinds, "=")
	at := strings.IndexByte(kinds, kindLetter(value.Kind()))
	if at < 0 {
		return fault{value, fmt.Sprintf("%s must be %s, not %s", strconv.Quote(name), kindNames(kinds), value.Kind())}, true
	}
	switch value.Kind() {
	case String:
		text, _ := value.Text()
		if isEnum && !slices.Contains(strings.Split(literals, "|"), text) {
			return fault{value, fmt.Sprintf("%s must be one of %s", strconv.Quote(name), strings.ReplaceAll(literals, "|", ", "))}, true
		}
		if text == "" && strings.HasPrefix(kinds[at+1:], "!") {
			return fault{value, strconv.Quote(name) + " must not be empty"}, true
		}
		if path == "sandbox.credentials.envVars[].name" && !isVariable(text) {
			return fault{value, strconv.Quote(name) + " must be the name of a variable"}, true
		}
	case Number:
		return checkNumber(value, kinds[at+1:], name)
	case Object:
		for member := range strings.SplitSeq(required, ",") {
			if member != "" && value.Get(member).Kind() == Absent {
				return fault{value, fmt.Sprintf("%s needs a member %s", strconv.Quote(name), strconv.Quote(member))}, true
			}
		}
		return checkMembers(value, path)
	case Array:
		elements := path + "[]"
		spec := schemaSpec(elements)
		if spec == "" {
			return fault{}, false
		}
		f, bad := fault{}, false
		value.Each(func(_ string, e Node) bool {
			f, bad = check(e, spec, elements, name)
			return !bad
		})
		return f, bad
	}
	return fault{}, false
}

// wrongKind reports a value of a type that the schema does not have there.
func wrongKind(value Node, path []string) bool {
	kinds, _, _ := strings.Cut(schemaSpec(strings.Join(path, ".")), ":")
	kinds, _, _ = strings.Cut(kinds, "=")
	return kinds != "" && strings.IndexByte(kinds, kindLetter(value.Kind())) < 0
}

func kindLetter(k Kind) byte { return [...]byte{0, 'n', 'b', 'd', 's', 'a', 'o'}[k] }

func checkNumber(value Node, constraints, name string) (fault, bool) {
	x, _ := strconv.ParseFloat(string(value.Raw()), 64)
	for i := range len(constraints) {
		why := ""
		switch constraints[i] {
		case '+':
			if x < 0 {
				why = "not be negative"
			}
		case 'p':
			if x <= 0 {
				why = "be positive"
			}
		case 'i':
			if x != math.Trunc(x) {
				why = "be an integer"
			}
		case 'u':
			if x > 1 {
				why = "be at most 1"
			}
		default:
			return fault{}, false // the next kind's letter
		}
		if why != "" {
			return fault{value, fmt.Sprintf("%s must %s", strconv.Quote(name), why)}, true
		}
	}
	return fault{}, false
}

func kindNames(kinds string) string {
	var names []string
	for i := range len(kinds) {
		switch kinds[i] {
		case 'n':
			names = append(names, "null")
		case 'b':
			names = append(names, "true or false")
		case 's':
			names = append(names, "a string")
		case 'd':
			names = append(names, "a number")
		case 'a':
			names = append(names, "an array")
		case 'o':
			names = append(names, "an object")
		}
	}
	return strings.Join(names, " or ")
}

func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// guardsCalls reports the events whose hooks decide about calls. A malformed
// hook of theirs costs the file; under any other name the client skips what it
// does not understand and keeps the rest.
func guardsCalls(event string) bool {
	return event == "PreToolUse" || event == "PermissionRequest" || event == "PreSkillShellCommand"
}

// isHookEvent knows the other events of client 2.1.332.
func isHookEvent(name string) bool {
	switch name {
	case "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
		"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
		"PreModelSwitch", "PostModelSwitch", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted",
		"Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded",
		"CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay":
		return true
	}
	return guardsCalls(name)
}

// strayDepth is how deep the client looks for hooks in the wrong place.
const strayDepth = 4

// strayHook looks for hooks that stand where they would silently do nothing:
// the client drops a file with one. groups is unset where only the names of
// events count.
func strayHook(at Node, depth int, groups bool) (f fault, bad bool) {
	if depth > strayDepth {
		return fault{}, false
	}
	at.Each(func(name string, value Node) bool {
		empty := value.Kind() == Null || value.Kind() == Array && value.Len() == 0
		switch {
		case guardsCalls(name) && !empty:
			f, bad = fault{value, name + " belongs in \"hooks\""}, true
		case depth == 0 && name == "hooks":
			f, bad = strayInHooks(value)
		case groups && name == "hooks" && isGroup(value):
			f, bad = fault{value, "a hook group stands in the wrong place"}, true
		case depth == 0 && namesAreData(name):
		case depth == 1 && (name == "allow" || name == "ask" || name == "deny") && value.Kind() == Array:
			// Rules that are no text are skipped one by one.
		default:
			f, bad = strayHook(value, depth+1, groups)
		}
		return !bad
	})
	return f, bad
}

// namesAreData reports the maps whose names are someone's own: a plugin may be
// called like an event.
func namesAreData(key string) bool {
	switch key {
	case "env", "pluginConfigs", "skillOverrides", "enabledPlugins", "extraKnownMarketplaces":
		return true
	}
	return false
}

func strayInHooks(hooks Node) (f fault, bad bool) {
	if hooks.Kind() == Array && holdsObject(hooks) {
		return fault{hooks, "hooks must be an object with an event for each group"}, true
	}
	if hooks.Kind() != Object {
		return fault{}, false
	}
	hooks.Each(func(event string, value Node) bool {
		switch {
		case event == "hooks" && isGroup(value):
			f, bad = fault{value, "a hook group needs an event around it"}, true
		case value.Kind() == Object && !guardsCalls(event):
			f, bad = strayHook(value, 2, !isHookEvent(event))
		}
		return !bad
	})
	return f, bad
}

// isGroup reports what looks like the hooks of a group: an array that is not
// empty, or a hook by itself.
func isGroup(value Node) bool {
	return value.Kind() == Array && value.Len() > 0 || value.Get("type").Kind() == String
}

func holdsObject(array Node) (yes bool) {
	array.Each(func(_ string, e Node) bool {
		yes = yes || e.Kind() == Object
		return !yes
	})
	return yes
}

// checkHooks looks for a malformed group or hook that costs the file.
func checkHooks(hooks Node) (f fault, bad bool) {
	if hooks.Kind() != Object {
		return fault{}, false
	}
	refuse := func(at Node, message string) {
		if !bad {
			f, bad = fault{at, message}, true
		}
	}
	hooks.Each(func(event string, groups Node) bool {
		if !guardsCalls(event) || groups.Kind() == Null {
			return true
		}
		if groups.Kind() != Array {
			refuse(groups, fmt.Sprintf("hooks.%s must be an array, not %s", event, groups.Kind()))
		}
		groups.Each(func(_ string, group Node) bool {
			if group.Kind() != Object {
				refuse(group, "a hook group must be an object, not "+group.Kind().String())
				return false
			}
			if m := group.Get("matcher"); m.Kind() != Absent && m.Kind() != String {
				refuse(m, "a matcher must be a string, not "+m.Kind().String())
			}
			list := group.Get("hooks")
			if list.Kind() != Array {
				refuse(group, "a hook group needs an array \"hooks\"")
			}
			list.Each(func(_ string, hook Node) bool {
				if at, why := hookFault(hook); why != "" {
					refuse(at, why)
				}
				return !bad
			})
			return !bad
		})
		return !bad
	})
	return f, bad
}

// hookFields are the typed members of a hook, by its type: name and the spec of
// [check], "*" before the ones it needs.
func hookFields(kind string) []string {
	switch kind {
	case "command":
		return []string{"*command s", "args a", "if s", "shell s=bash|powershell", "timeout dp", "onFailure s=block|continue",
			"statusMessage s", "once b", "async b", "asyncRewake b", "rewakeMessage s!", "rewakeSummary s!"}
	case "prompt":
		return []string{"*prompt s", "if s", "timeout dp", "model s", "continueOnBlock b", "statusMessage s", "once b"}
	case "agent":
		return []string{"*prompt s", "if s", "timeout dp", "model s", "statusMessage s", "once b"}
	case "http":
		return []string{"*url s!", "if s", "timeout dp", "onFailure s=block|continue", "headers o", "allowedEnvVars a", "statusMessage s", "once b"}
	case "mcp_tool":
		return []string{"*server s", "*tool s", "input o", "if s", "timeout dp", "statusMessage s", "once b"}
	}
	return nil
}

func hookFault(hook Node) (Node, string) {
	if hook.Kind() != Object {
		return hook, "a hook must be an object, not " + hook.Kind().String()
	}
	kind, _ := hook.Get("type").Text()
	fields := hookFields(kind)
	if fields == nil {
		return hook, "a hook needs a \"type\": command, prompt, agent, http or mcp_tool"
	}
	for _, field := range fields {
		name, spec, _ := strings.Cut(field, " ")
		name, needed := strings.CutPrefix(name, "*")
		value := hook.Get(name)
		if value.Kind() == Absent {
			if needed {
				return hook, fmt.Sprintf("a hook of type %s needs %q", kind, name)
			}
			continue
		}
		if f, bad := check(value, spec, "hooks.", name); bad {
			return f.at, "hook: " + f.message
		}
		// Members and elements are strings in all of them but a tool's input.
		if name != "input" && (value.Kind() == Array || value.Kind() == Object) {
			var wrong Node
			value.Each(func(_ string, e Node) bool {
				if e.Kind() != String {
					wrong = e
				}
				return wrong.Kind() == Absent
			})
			if wrong.Kind() != Absent {
				return wrong, fmt.Sprintf("hook: %q holds strings only, not %s", name, wrong.Kind())
			}
		}
		if name == "url" {
			if text, _ := value.Text(); !strings.Contains(text, ":") {
				return value, "hook: \"url\" must be a URL"
			}
		}
	}
	return Node{}, ""
}

// ruleFault says why the client passes over a permission rule, empty if it
// takes it. The file stays, unlike with a wrong type.
func ruleFault(rule, list string) string {
	open := strings.IndexByte(rule, '(')
	name, spec := rule, ""
	switch {
	case rule == "" || strings.TrimSpace(rule) == "":
		return "an empty rule"
	case open < 0 && strings.IndexByte(rule, ')') >= 0, open >= 0 && !strings.HasSuffix(rule, ")"):
		return "the parentheses do not match"
	case open >= 0:
		name, spec = rule[:open], rule[open+1:len(rule)-1]
		if spec == "" {
			return "nothing stands between the parentheses"
		}
	}
	isMCP := strings.HasPrefix(name, "mcp__")
	switch {
	case isMCP && open >= 0:
		return "rules for MCP tools take no parentheses"
	case !isMCP && startsLower(name):
		return "tool names begin with a capital letter"
	case list == "allow" && strings.Contains(name, "*"):
		server, tool, ok := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
		if !isMCP || !ok || strings.Contains(server, "*") || tool == "" {
			return "in allow a * may stand only after mcp__<server>__"
		}
	case name == "WebFetch" && open >= 0 && !strings.HasPrefix(spec, "domain:"):
		return "WebFetch rules name a domain: WebFetch(domain:example.com)"
	case spec == ":*":
		return "nothing stands before :*"
	case strings.HasSuffix(spec, ":*") && isFileTool(name):
		return "the :* form is for commands, not for paths"
	}
	return ""
}

func startsLower(name string) bool {
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.ToUpper(r) != r
}

func isFileTool(name string) bool {
	switch name {
	case "Read", "Edit", "Write", "Glob", "NotebookEdit", "NotebookRead", "MultiEdit":
		return true
	}
	return false
}
