package doctor

import (
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"sallyport/internal/hints"
)

// canary is a host that cannot exist (RFC 6761).
const canary = "allowlist-canary.invalid"

var egress = Probe{
	Name:     "egress",
	Title:    "the sandbox's proxy lets the listed hosts through, and no other",
	Does:     "inside, asks the proxy on this machine for a connection (CONNECT) to the reserved name " + canary + ", and to one host of sandbox.network.allowedDomains, and closes both at once. Outside, and with a proxy that is not on this machine, nothing is sent.",
	Sandbox:  "the listed host is answered with 403; the canary with anything else",
	Other:    "the proxy's variable is missing; the network is down",
	Failures: []string{"proxy-host-blocked", "allowlist-not-enforced"},
	Run: func(ctx context.Context, w *World) []Result {
		if !w.Inside {
			return []Result{none("outside the sandbox there is no list")}
		}
		text := w.Getenv("HTTPS_PROXY")
		if text == "" {
			text = w.Getenv("https_proxy")
		}
		if text == "" {
			return []Result{warn("HTTPS_PROXY is not set inside the sandbox").advise("something removed it; programs that need the network fail")}
		}
		proxy, err := url.Parse(text)
		if err != nil || !loopback(proxy.Hostname()) || proxy.Port() == "" {
			return []Result{none("HTTPS_PROXY is not a proxy on this machine, and is not contacted")}
		}
		status, err := connect(ctx, proxy, canary+":443")
		results := []Result{judgeCanary(status, err).of("canary")}
		host := allowedHost(w)
		switch {
		case host == "":
			results = append(results, none("sandbox.network.allowedDomains names no single host").of("allowed"))
		case w.Offline:
			results = append(results, none("offline").of("allowed"))
		default:
			status, err := connect(ctx, proxy, net.JoinHostPort(host, "443"))
			r := judgeAllowed(host, status, err)
			results = append(results, r.of("allowed"))
		}
		return results
	},
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allowedHost is the first host of the list that is one.
func allowedHost(w *World) string {
	for _, e := range w.Settings.List("sandbox.network.allowedDomains") {
		if hostName(e.Value) && strings.Contains(e.Value, ".") && net.ParseIP(e.Value) == nil && !loopback(e.Value) {
			return e.Value
		}
	}
	return ""
}

// hostName reports text that is a host's name and nothing a program or
// protocol could take for something else.
func hostName(s string) bool {
	return s != "" && len(s) <= 253 && s[0] != '-' && s[0] != '.' && strings.IndexFunc(s, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// connect asks a proxy for a tunnel and hangs up.
func connect(ctx context.Context, proxy *url.URL, target string) (status int, err error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", proxy.Host)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(6 * time.Second))
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return 0, err
	}
	return readStatus(conn)
}

func judgeCanary(status int, err error) Result {
	switch {
	case err != nil:
		return warn("the proxy does not answer: %s", reason(netReason(err)))
	case status == 403:
		return pass("%s is refused (403)", canary)
	case status == 407:
		return warn("the proxy wants other credentials (407)").advise("HTTPS_PROXY was changed in this session")
	}
	return fail("allowlist-not-enforced", Sandbox, "%s is on no list and is answered with %d, not 403", canary, status)
}

func judgeAllowed(host string, status int, err error) Result {
	switch {
	case err != nil:
		return warn("%s: the proxy does not answer: %s", host, reason(netReason(err)))
	case status >= 200 && status < 300:
		return pass("%s is let through", host)
	case status == 403:
		return fail("proxy-host-blocked", Sandbox, "%s is listed in sandbox.network.allowedDomains and refused (403)", host)
	}
	return warn("%s is let through and cannot be reached (%d)", host, status).advise("the network is down, or the host is")
}

var sshTransport = Probe{
	Name:     "ssh-transport",
	Title:    "git reaches its ssh remote",
	Does:     "where a remote of the repository is an ssh address: `ssh -o BatchMode=yes -o ConnectTimeout=5 -T` to it, with forwarding, local commands and changes to known_hosts switched off. Not offline.",
	Sandbox:  "the name cannot be resolved, or the connection is refused, inside",
	Other:    "the network is down; the host is not known yet; the key is not accepted",
	Failures: []string{"ssh-transport-blocked"},
	Run: func(ctx context.Context, w *World) []Result {
		if !w.InRepo {
			return []Result{none("not in a repository")}
		}
		text, _ := w.gitConfig(ctx, "--get-regexp", `^remote\..*\.url$`)
		to, ok := sshRemote(text)
		switch {
		case !ok:
			return []Result{none("no remote with an ssh address")}
		case w.Offline:
			return []Result{none("offline")}
		}
		ssh, ok := w.lookPath("ssh")
		if !ok {
			return []Result{none("ssh is not on PATH")}
		}
		args := []string{"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "StrictHostKeyChecking=yes", "-o", "UpdateHostKeys=no",
			"-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "ControlMaster=no", "-o", "ControlPath=none"}
		if to.port != "" {
			args = append(args, "-p", to.port)
		}
		dest := to.host
		if to.user != "" {
			dest = to.user + "@" + to.host
		}
		return []Result{judgeSSH(w, dest, w.run(ctx, 12*time.Second, "", ssh, append(args, "--", dest)...))}
	},
}

type sshAddress struct{ user, host, port string }

// sshRemote finds the first ssh address in the output of git config. An address
// that ssh could take for an option is passed over.
func sshRemote(text string) (a sshAddress, ok bool) {
	for line := range strings.Lines(text) {
		_, address, _ := strings.Cut(strings.TrimSpace(line), " ")
		a = sshAddress{}
		switch rest, scheme := strings.CutPrefix(address, "ssh://"); {
		case scheme:
			u, err := url.Parse("ssh://" + rest)
			if err != nil {
				continue
			}
			a.host, a.port = u.Hostname(), u.Port()
			if u.User != nil {
				a.user = u.User.Username()
			}
		case strings.Contains(address, "://"):
			continue
		default:
			host, _, scp := strings.Cut(address, ":")
			if !scp || strings.ContainsAny(host, `/\`) || len(host) == 1 {
				continue
			}
			a.host = host
			if user, at, ok := strings.Cut(host, "@"); ok {
				a.user, a.host = user, at
			}
		}
		if hostName(a.host) && (a.user == "" || hostName(a.user)) && strings.Trim(a.port, "0123456789") == "" {
			return a, true
		}
	}
	return a, false
}

func judgeSSH(w *World, dest string, o outcome) Result {
	// ssh itself ends with 255; anything else came from the other end.
	if o.exit != nil && *o.exit != 255 {
		return pass("%s answers", dest).ran(o)
	}
	text := hints.Text(o.stderr)
	for _, m := range hints.Scan(text, hints.OnPlatform(hints.Builtin(), goos())) {
		if m.Entry.ID != "ssh-transport-blocked" {
			continue
		}
		if w.Inside {
			return fail(m.Entry.ID, Sandbox, "%s: %s", dest, o.say()).ran(o)
		}
		return warn("%s: %s", dest, o.say()).ran(o).advise("outside the sandbox this is the network")
	}
	switch {
	case strings.Contains(text, "Host key verification failed"):
		return warn("%s: its key is not in known_hosts", dest).ran(o).advise("connect once in a terminal of your own and compare the key")
	case strings.Contains(text, "Permission denied"):
		return warn("%s answers and does not accept a key", dest).ran(o).advise("see the ssh-agent probe; otherwise the key is not authorised there")
	}
	return warn("%s: %s", dest, o.say()).ran(o)
}
