package shellcmd

import (
	"slices"
	"strings"
)

// A wrapper is a program that runs the command given in its own arguments.
//
// Options are described as for getopt: short and long name those that take a
// value; all others are flags. Options end at the first operand.
type wrapper struct {
	name     string
	short    string // letters of the short options with a value
	long     string // long options with a value, blank separated
	long2    string // long options with two values
	sub      string // subcommands that run a command; other ones do not
	optSub   bool   // the subcommand may be left out
	operands int    // operands before the command
	assigns  bool   // NAME=value words before the command set its environment
	numeric  bool   // -19 is an option
	oneDash  bool   // long options may have one dash
	dashes   bool   // the command stands behind --
	dirOpts  string // options whose value is the command's directory
	cmdOpts  string // options whose value is shell text
	listOpts string // options with which nothing is run
	text     bool   // the rest of the line is joined and given to a shell
	eachText bool   // each operand is text for a shell
	contain  bool   // the command runs in another root or container
	shell    bool   // without a command, a shell runs on the input
}

// wrappers is sorted by name. The grammars are those of the programs' manuals:
// util-linux 2.38, coreutils 9.1, findutils 4.9, sudo 1.9, moreutils, GNU
// parallel, strace 6.1.
var wrappers = []wrapper{
	{name: "aa-exec", short: "pn", long: "profile namespace"},
	{name: "asdf", sub: "exec"},
	{name: "aws-vault", short: "dn", long: "duration mfa-token region", sub: "exec", dashes: true},
	{name: "bundle", sub: "exec"},
	{name: "bwrap", long: "args argv0 userns userns2 pidns uid gid hostname chdir unsetenv lock-file sync-fd remount-ro exec-label file-label proc dev tmpfs mqueue dir seccomp add-seccomp-fd block-fd info-fd json-status-fd userns-block-fd perms size cap-add cap-drop overlay-src tmp-overlay ro-overlay", long2: "setenv bind bind-try dev-bind dev-bind-try ro-bind ro-bind-try file bind-data ro-bind-data symlink chmod bind-fd ro-bind-fd", dirOpts: "chdir"},
	{name: "caffeinate", short: "tw"},
	{name: "catchsegv"},
	{name: "cgexec", short: "g"},
	{name: "chamber", sub: "exec", dashes: true},
	{name: "chpst", short: "uUbemdopfc/nlL"},
	{name: "chronic"},
	{name: "chroot", long: "groups userspec", operands: 1, contain: true, shell: true},
	{name: "chrt", short: "TPD", long: "sched-runtime sched-period sched-deadline", operands: 1, listOpts: "p pid m max"},
	{name: "concurrently", short: "nc", long: "names prefix prefix-colors max-processes success restart-tries restart-after", eachText: true},
	{name: "conda", short: "np", long: "name prefix cwd", sub: "run", dirOpts: "cwd"},
	{name: "cpulimit", short: "lpeP", long: "limit pid exe path", listOpts: "p pid"},
	{name: "cross-env", assigns: true},
	{name: "cross-env-shell", assigns: true, text: true},
	{name: "dbus-run-session", long: "config-file dbus-daemon"},
	{name: "devbox", short: "ce", long: "config env env-file", sub: "run"},
	{name: "direnv", sub: "exec", operands: 1},
	{name: "doas", short: "Cua", shell: true},
	{name: "doppler", short: "pc", long: "project config token command", cmdOpts: "command", sub: "run", dashes: true},
	{name: "dotenv", short: "fqe", long: "file", sub: "run", optSub: true},
	{name: "dotenvx", short: "fe", long: "env-file env", sub: "run", dashes: true},
	{name: "dumb-init", short: "r", long: "rewrite"},
	{name: "eatmydata"},
	{name: "entr"},
	{name: "env", short: "uCaSP", long: "unset chdir argv0 split-string", assigns: true, dirOpts: "C chdir"},
	{name: "envchain", operands: 1},
	{name: "envdir", operands: 1},
	{name: "fakeroot", short: "lsib", long: "lib faked"},
	{name: "faketime", short: "p", operands: 1},
	{name: "firejail"},
	{name: "flock", short: "wE", long: "timeout wait conflict-exit-code", operands: 1},
	{name: "fnm", long: "using", sub: "exec"},
	{name: "gosu", operands: 1},
	{name: "gtimeout", short: "ks", long: "kill-after signal", operands: 1},
	{name: "hatch", short: "e", long: "env", sub: "run"},
	{name: "hyperfine", short: "wmMrspScun", long: "warmup min-runs max-runs runs setup prepare conclude cleanup parameter-scan parameter-list parameter-step-size shell style sort time-unit export-json export-csv export-markdown export-asciidoc export-orgmode output input command-name reference", cmdOpts: "s setup p prepare c cleanup C conclude", eachText: true},
	{name: "infisical", long: "env path projectId", sub: "run", dashes: true},
	{name: "ionice", short: "cnpPu", long: "class classdata pid pgid uid", listOpts: "p pid P pgid u uid"},
	{name: "ld.so", long: "library-path preload argv0 inhibit-rpath audit glibc-hwcaps-prepend glibc-hwcaps-mask", listOpts: "list verify help version list-tunables list-diagnostics"},
	{name: "linux32"},
	{name: "linux64"},
	{name: "ltrace", short: "aADeElnopsuwxF", long: "align config debug indent library output where"},
	{name: "mamba", short: "np", long: "name prefix cwd", sub: "run", dirOpts: "cwd"},
	{name: "micromamba", short: "np", long: "name prefix cwd", sub: "run", dirOpts: "cwd"},
	{name: "mise", short: "Cjx", long: "cd env jobs command", sub: "exec x", dirOpts: "C cd", cmdOpts: "command c", dashes: true},
	{name: "nice", short: "n", long: "adjustment", numeric: true},
	{name: "nocache", short: "n"},
	{name: "nodemon", short: "ewi", long: "ext watch ignore exec delay signal", cmdOpts: "exec"},
	{name: "nohup"},
	{name: "nsenter", short: "tSGW", long: "target setuid setgid wdns", contain: true, shell: true},
	{name: "numactl", short: "CNmipPM", long: "cpunodebind physcpubind membind interleave preferred"},
	{name: "nvm", sub: "exec", operands: 1},
	{name: "op", long: "env-file account", sub: "run", dashes: true},
	{name: "pdm", short: "p", long: "project", sub: "run"},
	{name: "perf", short: "eopCarDxIGFcmUj", long: "event output pid tid cpu repeat field-separator delay interval-print", sub: "stat record trace"},
	{name: "pipenv", sub: "run"},
	{name: "pixi", short: "e", long: "manifest-path environment", sub: "run"},
	{name: "pkexec", long: "user"},
	{name: "poetry", short: "CP", long: "directory project", sub: "run", dirOpts: "C directory"},
	{name: "prlimit", short: "po", long: "pid output", listOpts: "p pid"},
	{name: "proot", short: "rbqw0SR", long: "rootfs bind qemu cwd", dirOpts: "w cwd", oneDash: true},
	{name: "proxychains", short: "f"},
	{name: "proxychains4", short: "f"},
	{name: "pyenv", sub: "exec"},
	{name: "rbenv", sub: "exec"},
	{name: "rlwrap", short: "abCDfHlmMoOpPqsStwz"},
	{name: "rtk"},
	{name: "runuser", short: "ugGscw", long: "user group supp-group shell command session-command whitelist-environment"},
	{name: "rye", sub: "run"},
	{name: "script", short: "IOBTmcEot", long: "log-in log-out log-io log-timing logging-format command echo output-limit", cmdOpts: "c command"},
	{name: "setarch", operands: 1},
	{name: "setpriv", long: "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig selinux-label apparmor-profile"},
	{name: "setsid"},
	{name: "setuidgid", operands: 1},
	{name: "softlimit", short: "acdflmnoprst"},
	{name: "ssh-agent", short: "atEOP"},
	{name: "sshpass", short: "pfdP"},
	{name: "stdbuf", short: "ioe", long: "input output error"},
	{name: "strace", short: "abeEIoOpPsSuUX", long: "attach columns trace trace-path signal status output string-limit summary-sort-by user env detach-on interruptible summary-columns"},
	{name: "su", short: "gGscwT", long: "group supp-group shell command session-command whitelist-environment"},
	{name: "su-exec", operands: 1},
	{name: "sudo", short: "CDghpRrTtUu", long: "close-from chdir group host prompt chroot role command-timeout type other-user user", assigns: true, dirOpts: "D chdir", listOpts: "l list v validate e edit K V version", shell: true},
	{name: "systemd-inhibit", long: "what who why mode"},
	{name: "systemd-nspawn", short: "DMiu", long: "directory image machine user", contain: true, shell: true},
	{name: "systemd-run", short: "HMpuE", long: "host machine unit property description slice service-type uid gid nice working-directory setenv path-property socket-property on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar timer-property", dirOpts: "working-directory"},
	{name: "taskset", operands: 1, listOpts: "p pid"},
	{name: "time", short: "fo", long: "format output"},
	{name: "timeout", short: "ks", long: "kill-after signal", operands: 1},
	{name: "tini", short: "pe"},
	{name: "torify"},
	{name: "torsocks", short: "upaP", long: "user pass address port"},
	{name: "trickle", short: "udwtlnp"},
	{name: "tsocks"},
	{name: "unbuffer"},
	{name: "unshare", short: "SGRw", long: "setuid setgid root wd map-user map-group map-users map-groups propagation setgroups monotonic boottime", dirOpts: "w wd", shell: true},
	{name: "uv", long: "project directory python with extra group", short: "p", sub: "run", dirOpts: "directory"},
	{name: "valgrind"},
	{name: "volta", sub: "run", long: "node npm yarn"},
	{name: "watch", short: "nq", long: "interval equexit", text: true},
	{name: "watchexec", short: "weifdsN", long: "watch exts ignore filter delay signal on-busy-update workdir", dirOpts: "workdir"},
	{name: "winpty", short: "X"},
	{name: "xvfb-run", short: "efnpsw", long: "error-file auth-file server-num xauth-protocol server-args wait"},
}

// wrapperFor finds the table's entry for a program.
func wrapperFor(name string) *wrapper {
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl-") {
		name = "ld.so" // the loader, under the name of its architecture
	}
	i, ok := slices.BinarySearchFunc(wrappers, name, func(w wrapper, name string) int { return strings.Compare(w.name, name) })
	if !ok {
		return nil
	}
	return &wrappers[i]
}

func listed(list, name string) bool {
	for list != "" {
		var item string
		item, list, _ = strings.Cut(list, " ")
		if item == name {
			return true
		}
	}
	return false
}
