package verify

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/internal/term"
)

func denialChecks() []Check {
	return []Check{{
		ID: "V07", Title: "denials",
		Pass: "inside the sandbox, a credential file cannot be read, a credential variable is empty, and a host that nobody allowed is refused",
		Fail: "one of them comes through",
		Warn: "the file does not exist, so nothing can be said about reading it; or this does not run inside the sandbox",
		NA:   "without --live",
		run:  denials, inside: true,
	}}
}

// canaryHost cannot exist (RFC 6761), so nobody can have allowed it.
const canaryHost = "allowlist-canary.invalid"

func denials(m *Machine) []Finding {
	if !m.Live {
		return []Finding{{Text: "only tried with --live"}}
	}
	evidence, inside := m.InsideSandbox()
	if !inside {
		return []Finding{{Status: Warn, Text: "this does not run inside the sandbox, where alone it can be tried" + because(evidence),
			Fix: "in a session, let the agent run: agent-setup verify --live --check V07"}}
	}
	var out []Finding
	file := filepath.Join(m.Home(), ".aws", "credentials")
	switch n, err := readByte(file); {
	case err == nil:
		out = append(out, Finding{Status: Fail, Text: fmt.Sprintf("%d byte of %s was read", n, m.Short(file)), File: file, Fix: "sandbox.filesystem.denyRead must hold ~/ : run agent-setup project"})
	case os.IsNotExist(err) && exists(filepath.Dir(file)):
		out = append(out, Finding{Status: Warn, Text: m.Short(file) + " does not exist, so nothing can be said about reading it", File: file})
	default:
		// A hidden directory looks like one that is not there.
		out = append(out, Finding{Status: Pass, Text: m.Short(file) + " cannot be read: " + plain(err), File: file})
	}
	if m.Getenv("AWS_ACCESS_KEY_ID") != "" {
		out = append(out, Finding{Status: Fail, Text: "AWS_ACCESS_KEY_ID has a value here", Fix: "sandbox.credentials.envVars must deny it: run agent-setup project"})
	} else {
		out = append(out, Finding{Status: Pass, Text: "AWS_ACCESS_KEY_ID is empty"})
	}
	return append(out, refusedHost(m))
}

func because(evidence []string) string {
	if len(evidence) == 0 {
		return ""
	}
	return " (only one sign of it: " + strings.Join(evidence, "; ") + ")"
}

func plain(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func readByte(file string) (int, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 1))
	if n == 1 {
		return 1, nil
	}
	return 0, err
}

// refusedHost asks the sandbox's proxy for a host that cannot be allowed: rules
// about curl say nothing about the network itself.
func refusedHost(m *Machine) Finding {
	var proxy *url.URL
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if u, err := url.Parse(m.Getenv(name)); err == nil && u.Host != "" && proxy == nil {
			proxy = u
		}
	}
	if proxy == nil {
		return Finding{Status: Warn, Text: "no proxy is set here, so the list of allowed hosts cannot be tried"}
	}
	f := Finding{Status: Pass, Command: "CONNECT " + canaryHost + ":443"}
	c, err := net.DialTimeout("tcp", proxy.Host, 5*time.Second)
	if err != nil {
		f.Status, f.Text, f.Fix = Warn, "the proxy does not answer: "+err.Error(), "restart the session"
		return f
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	auth := ""
	if password, ok := proxy.User.Password(); ok {
		auth = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(proxy.User.Username()+":"+password)) + "\r\n"
	}
	fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: %[1]s:443\r\n%s\r\n", canaryHost, auth)
	line, err := bufio.NewReader(io.LimitReader(c, 4096)).ReadString('\n')
	_, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	status = term.Clean(status, 80)
	switch {
	case err != nil && line == "":
		f.Text = "the proxy closed the connection to " + canaryHost
	case strings.HasPrefix(status, "200"):
		f.Status, f.Text, f.Fix = Fail, "the proxy opened a connection to "+canaryHost, "sandbox.network.allowedDomains must not hold *"
	case strings.HasPrefix(status, "403"):
		f.Text = "the proxy refused " + canaryHost + ": " + status
	default:
		// A gateway error means that it tried, and only the name failed.
		f.Status, f.Text = Warn, "the proxy answered "+status+" for "+canaryHost+", which is no refusal"
	}
	return f
}
