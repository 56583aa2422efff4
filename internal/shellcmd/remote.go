package shellcmd

import "strings"

// ssh runs the words after the host in a shell over there.
func (w *walker) ssh(sh *shell, inv *invocation, args []Word) {
	wr := wrapper{name: "ssh", short: "BbcDEeFIiJLlmOopQRSWwP"}
	opts, rest := wr.options(args)
	for _, o := range opts {
		if o.name == "o" && o.has {
			// These run a command on this side.
			for _, key := range []string{"ProxyCommand", "LocalCommand", "KnownHostsCommand"} {
				if v, ok := cutOption(o.value, key); ok {
					w.nestString(sh, inv, v, nesting{layer: "ssh " + key})
				}
			}
		}
	}
	for len(rest) > 2 && unknownWord(rest[0]) {
		rest = rest[1:] // ssh $OPTS host …
	}
	if len(rest) == 0 {
		return
	}
	rest = rest[1:]
	_, rest = wr.options(rest) // options may follow the host
	n := nesting{layer: "ssh", remote: true}
	if len(rest) == 0 {
		if sh.in != nil {
			p := w.enter(sh, inv, n)
			w.inNesting(n, func() { w.nestText(p, *sh.in, -1) })
		}
		return
	}
	w.nestString(sh, inv, joinWords(w, rest), n)
}

// cutOption reads KEY=value and "KEY value", ignoring case.
func cutOption(o Word, key string) (Word, bool) {
	if len(o.raw) <= len(key) || !strings.EqualFold(o.raw[:len(key)], key) {
		return Word{}, false
	}
	rest := o.raw[len(key):]
	trimmed := strings.TrimLeft(rest, " \t")
	trimmed = strings.TrimLeft(strings.TrimPrefix(trimmed, "="), " \t")
	if trimmed == rest {
		return Word{}, false
	}
	return o.After(o.raw[:len(o.raw)-len(trimmed)])
}

// dockerValues are the options of docker run, exec and compose with a value.
const dockerValues = "add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent cgroupns cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule device-read-bps device-read-iops device-write-bps device-write-iops dns dns-option dns-search domainname entrypoint env env-file expose file gpus group-add health-cmd health-interval health-retries health-start-interval health-start-period health-timeout hostname index ip ip6 ipc isolation kernel-memory label label-file link link-local-ip log-driver log-opt mac-address memory memory-reservation memory-swap memory-swappiness mount name network network-alias oom-score-adj pid pids-limit platform pod profile project-directory project-name publish pull restart runtime secret security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir config context host log-level"

// docker finds the command of exec and run, through groups such as compose.
func (w *walker) docker(sh *shell, inv *invocation, name string, args []Word) {
	global := wrapper{name: name, short: "cHlfp", long: dockerValues}
	_, rest := global.options(args)
	for len(rest) > 0 && (rest[0].raw == "compose" || rest[0].raw == "container" || rest[0].raw == "machine") {
		_, rest = global.options(rest[1:])
	}
	if len(rest) == 0 {
		return
	}
	sub := rest[0].raw
	if sub != "exec" && sub != "run" && sub != "create" {
		return
	}
	wr := wrapper{name: name, short: "aceghlmpuvw", long: dockerValues}
	opts, rest := wr.options(rest[1:])
	n := nesting{layer: name + " " + sub, contain: true}
	entry := []Word(nil)
	for _, o := range opts {
		switch o.name {
		case "w", "workdir":
			if o.has {
				n.dir, n.hasDir = o.value.raw, true
			}
		case "entrypoint":
			if o.has {
				entry = []Word{o.value}
			}
		case "e", "env":
			if k, _, ok := strings.Cut(o.value.raw, "="); ok && isStatic(k) {
				v, _ := o.value.After(k + "=")
				n.assigns = append(n.assigns, Assign{Name: k, Value: v, Inline: true})
			}
		}
	}
	for len(rest) > 2 && unknownWord(rest[0]) {
		rest = rest[1:] // docker run $OPTS image …
	}
	if len(rest) == 0 {
		return
	}
	rest = append(entry[:len(entry):len(entry)], rest[1:]...)
	w.nest(sh, inv, rest, n)
}

func (w *walker) kubectl(sh *shell, inv *invocation, args []Word) {
	wr := wrapper{name: "kubectl", short: "nclfs", long: "namespace container context cluster kubeconfig user as server token filename pod-running-timeout image"}
	_, rest := wr.options(args)
	if len(rest) > 0 && rest[0].raw == "kubectl" {
		_, rest = wr.options(rest[1:])
	}
	if len(rest) == 0 || (rest[0].raw != "exec" && rest[0].raw != "run" && rest[0].raw != "debug") {
		return
	}
	n := nesting{layer: "kubectl " + rest[0].raw, contain: true}
	if r := afterDashes(rest, nil); r != nil {
		w.nest(sh, inv, r, n)
		return
	}
	// The form without -- is old but still taken by exec.
	_, r := wr.options(rest[1:])
	if len(r) > 1 {
		_, r = wr.options(r[1:])
		w.nest(sh, inv, r, n)
	}
}

// container covers the rest: what stands behind --, or in a -c text.
func (w *walker) container(sh *shell, inv *invocation, name string, args []Word) {
	n := nesting{layer: name, contain: name != "flatpak-spawn"}
	for i, a := range args {
		switch {
		case a.raw == "--" || a.raw == "-e" && name != "lxc" && name != "incus" || a.raw == "--exec":
			if i+1 < len(args) {
				w.nest(sh, inv, args[i+1:], n)
			}
			return
		case (a.raw == "-c" || a.raw == "--command") && name == "vagrant" && i+1 < len(args):
			w.nestString(sh, inv, args[i+1], n)
			return
		}
	}
	switch name {
	case "lxc", "incus":
		if len(args) > 2 && args[0].raw == "exec" {
			w.nest(sh, inv, args[2:], n)
		}
	case "machinectl":
		if len(args) > 2 && args[0].raw == "shell" {
			w.nest(sh, inv, args[2:], n)
		}
	case "wsl", "flatpak-spawn":
		wr := wrapper{name: name, short: "du", long: "distribution user cd directory env"}
		_, rest := wr.options(args)
		w.nest(sh, inv, rest, n)
	case "toolbox":
		if len(args) > 1 && args[0].raw == "run" {
			wr := wrapper{name: name, short: "cdr", long: "container distro release"}
			_, rest := wr.options(args[1:])
			w.nest(sh, inv, rest, n)
		}
	case "devcontainer":
		if len(args) > 1 && args[0].raw == "exec" {
			wr := wrapper{name: name, long: "workspace-folder container-id config id-label docker-path remote-env"}
			_, rest := wr.options(args[1:])
			w.nest(sh, inv, rest, n)
		}
	}
}
