package main

import (
	"strings"

	"sallyport/internal/iso"
)

// A flagDoc is an option as completion offers it.
type flagDoc struct {
	name   string // without dashes
	about  string
	values string // words to choose from; "FILE" for a file, empty for none
}

const modeWords = "read-only restricted workspace-write full"

var flagDocs = []flagDoc{
	{"sandbox", "put the CLI into a sandbox mode", modeWords},
	{"sandbox-fallback", "what to do when the CLI does not have the mode", "fail strictest run"},
	{"sandbox-floor", "never go below this mode", modeWords},
	{"allow-unverified", "use modes that nobody has verified", ""},
	{"wrap", "start the CLI inside an OS sandbox", "bwrap srt"},
	{"report", "write what really holds as JSON", "FILE"},
	{"print-command", "print what would be executed", ""},
	{"explain", "print what would be kept and dropped", ""},
	{"offline", "do not ask the CLI for its version", ""},
	{"print-config", "print a commented iso.toml", ""},
	{"help", "print the manual", ""},
	{"version", "print the version", ""},
}

// completionScript returns the script for a shell. Options are completed up to
// the CLI's name; what follows is completed as the CLI's own command line.
func completionScript(shell string) (string, bool) {
	clis := strings.Join(append(iso.CLINames(), "completion", "scan"), " ")
	switch shell {
	case "bash":
		return bashCompletion(clis), true
	case "zsh":
		return zshCompletion(clis), true
	case "fish":
		return fishCompletion(clis), true
	}
	return "", false
}

func bashCompletion(clis string) string {
	var names, cases, valued []string
	for _, f := range flagDocs {
		names = append(names, "--"+f.name)
		switch f.values {
		case "":
			continue
		case "FILE":
			cases = append(cases, "        --"+f.name+`) COMPREPLY=($(compgen -f -- "$cur")); return ;;`)
		default:
			cases = append(cases, "        --"+f.name+`) COMPREPLY=($(compgen -W "`+f.values+`" -- "$cur")); return ;;`)
		}
		valued = append(valued, "--"+f.name)
	}
	return `# bash completion for agent-iso
_agent_iso() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i=1
    COMPREPLY=()
    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
        --) ((i++)); break ;;
        ` + strings.Join(valued, "|") + `) ((i += 2)) ;;
        -*) ((i++)) ;;
        *) break ;;
        esac
    done
    if ((i < COMP_CWORD)); then
        case ${COMP_WORDS[i]} in
        scan) COMPREPLY=($(compgen -W "--json --cli --offline" -- "$cur")) ;;
        completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")) ;;
        *) if declare -F _command_offset >/dev/null; then _command_offset "$i"; else COMPREPLY=($(compgen -f -- "$cur")); fi ;;
        esac
        return
    fi
    case $prev in
` + strings.Join(cases, "\n") + `
    esac
    case $cur in
    -*) COMPREPLY=($(compgen -W "` + strings.Join(names, " ") + `" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "` + clis + `" -- "$cur")) ;;
    esac
}
complete -F _agent_iso agent-iso
`
}

func zshCompletion(clis string) string {
	var specs []string
	for _, f := range flagDocs {
		spec := "'--" + f.name + "[" + f.about + "]"
		switch f.values {
		case "":
		case "FILE":
			spec += ":file:_files"
		default:
			spec += ":" + f.name + ":(" + f.values + ")"
		}
		specs = append(specs, "        "+spec+"' \\")
	}
	return `#compdef agent-iso
# zsh completion for agent-iso
_agent_iso() {
    local curcontext=$curcontext state line
    _arguments -S \
` + strings.Join(specs, "\n") + `
        '1:agent CLI:(` + clis + `)' \
        '*:: :->rest'
    [[ $state == rest ]] || return
    case $words[1] in
    scan) _arguments '--json[print JSON]' '--cli[only these]:CLI:(` + strings.Join(iso.CLINames(), " ") + `)' '--offline[ask for no version]' ;;
    completion) _values shell bash zsh fish ;;
    *) _normal ;;
    esac
}
if [[ $funcstack[1] == _agent_iso ]]; then _agent_iso "$@"; else compdef _agent_iso agent-iso; fi
`
}

func fishCompletion(clis string) string {
	var b strings.Builder
	b.WriteString(`# fish completion for agent-iso
function __agent_iso_cli
    set -l words (commandline -opc)[2..]
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case `)
	for _, f := range flagDocs {
		if f.values != "" {
			b.WriteString("--" + f.name + " ")
		}
	}
	b.WriteString(`
                set skip 1
            case '-*'
            case '*'
                echo $word
                return 0
        end
    end
    return 1
end
complete -c agent-iso -n 'not __agent_iso_cli >/dev/null' -f -a '` + clis + `'
complete -c agent-iso -n '__agent_iso_cli | string match -qx scan' -f -a '--json --cli --offline'
complete -c agent-iso -n '__agent_iso_cli | string match -qx completion' -f -a 'bash zsh fish'
`)
	for _, f := range flagDocs {
		line := "complete -c agent-iso -n 'not __agent_iso_cli >/dev/null' -l " + f.name + " -d '" + f.about + "'"
		switch f.values {
		case "":
		case "FILE":
			line += " -r -F"
		default:
			line += " -x -a '" + f.values + "'"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
