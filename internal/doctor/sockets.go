package doctor

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

var sshAgent = Probe{
	Name:     "ssh-agent",
	Title:    "the ssh agent answers",
	Does:     "looks at the socket that SSH_AUTH_SOCK names, connects, and asks for the list of identities; only their number is read.",
	Sandbox:  "a unix socket cannot be made or connected inside, or the file is there outside and hidden inside",
	Other:    "a stale path after a new login; the agent does not run; it holds no keys",
	Failures: []string{"ssh-agent-unreachable"},
	Run: func(ctx context.Context, w *World) []Result {
		path := w.Getenv("SSH_AUTH_SOCK")
		if path == "" {
			return []Result{none("SSH_AUTH_SOCK is not set")}
		}
		keys, err := askAgent(ctx, path)
		return []Result{judgeAgent(w, path, keys, err).with(map[string]string{"SSH_AUTH_SOCK": looks(path)})}
	},
}

func judgeAgent(w *World, path string, keys int, err error) Result {
	const id = "ssh-agent-unreachable"
	var r Result
	switch {
	case err == nil && keys == 0:
		return warn("%s answers and holds no keys", w.short(path)).advise("ssh-add adds one")
	case err == nil:
		return pass("%s holds %d keys", w.short(path), keys)
	case errors.Is(err, errProtocol), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrDeadlineExceeded):
		return warn("%s: %s", w.short(path), reason(netReason(err))).advise("start the agent again, or log in again: the path is stale")
	case !filepath.IsAbs(path):
		return warn("SSH_AUTH_SOCK is %s, which is not an absolute path", path)
	default:
		r = w.refused(netReason(err), id, "%s: %s", w.short(path), reason(netReason(err)))
	}
	if r.Cause == Other {
		r.Advice = "start the agent, or log in again: the path is stale"
	}
	if r.Status == Fail && !systemIsLinux() {
		// On Linux no setting but allowAllUnixSockets would help, which nobody should be offered.
		r.Fix = grantSocket(w, path)
	}
	return r
}

var errProtocol = errors.New("answers, but not as an ssh agent")

// askAgent sends SSH_AGENTC_REQUEST_IDENTITIES (draft-miller-ssh-agent).
func askAgent(ctx context.Context, path string) (keys int, err error) {
	const request, answer = 11, 12
	conn, err := dialUnix(ctx, path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{0, 0, 0, 1, request}); err != nil {
		return 0, err
	}
	var head [9]byte
	n, err := io.ReadFull(conn, head[:])
	switch {
	case n >= 5 && head[4] != answer, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, errProtocol
	case err != nil:
		return 0, err
	}
	return int(binary.BigEndian.Uint32(head[5:])), nil
}

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		conn.SetDeadline(time.Now().Add(5 * time.Second))
	}
	return conn, err
}

// netReason is what the system said, without the addresses.
func netReason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		if op.Timeout() {
			return os.ErrDeadlineExceeded
		}
		return op.Err
	}
	return err
}

var localhostBind = Probe{
	Name:     "localhost-bind",
	Title:    "a program can serve on this machine",
	Does:     "listens on 127.0.0.1 at a free port, fetches one line from itself without a proxy, and listens on a unix socket in a new temporary directory, which it removes.",
	Sandbox:  "listening is refused inside, or it works and connecting is refused",
	Other:    "no loopback interface; a temporary directory whose path is too long for a socket",
	Failures: []string{"loopback-bind-denied", "loopback-connect-refused", "unix-listen-denied"},
	Run: func(ctx context.Context, w *World) []Result {
		bind, get := serveOnce(ctx)
		return []Result{judgeLoopback(w, bind, get), judgeUnixListen(w, listenUnix(w)).of("unix")}
	},
}

func serveOnce(ctx context.Context) (bind, get error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err, nil
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			bufio.NewReader(io.LimitReader(conn, 4096)).ReadString('\n')
			io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\ndoctor\n")
		}
	}()
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 4096))
	if err == nil && !strings.HasSuffix(string(answer), "doctor\n") {
		err = errors.New("another answer than the one that was sent")
	}
	return nil, err
}

func judgeLoopback(w *World, bind, get error) Result {
	var r Result
	switch {
	case errors.Is(bind, syscall.EADDRINUSE):
		return warn("listen on 127.0.0.1: %s", reason(netReason(bind))).advise("another program has the port; that is no sandbox")
	case bind != nil:
		r = w.refused(netReason(bind), "loopback-bind-denied", "listen on 127.0.0.1: %s", reason(netReason(bind)))
		if r.Status == Fail && !systemIsLinux() {
			r.Fix = localFix(w, `{"sandbox":{"network":{"allowLocalBinding":true}}}`)
		}
	case get != nil && w.Inside:
		r = fail("loopback-connect-refused", Sandbox, "listening works, connecting does not: %s", reason(netReason(get)))
		if !systemIsLinux() {
			r.Fix = localFix(w, `{"sandbox":{"network":{"allowedDomains":["localhost","127.0.0.1"]}}}`)
		}
	case get != nil:
		return warn("listening works, connecting does not: %s", reason(netReason(get)))
	default:
		return pass("serves and fetches on 127.0.0.1")
	}
	return r
}

func listenUnix(w *World) error {
	dir, err := os.MkdirTemp(w.Getenv("TMPDIR"), "sp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		return err
	}
	return l.Close()
}

func judgeUnixListen(w *World, err error) Result {
	switch err := netReason(err); {
	case err == nil:
		return pass("a unix socket can be served")
	case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist):
		return none("no place for a socket: %s", reason(err))
	case w.Inside:
		r := warn("unix socket: %s", reason(err))
		r.Catalog, r.Cause = "unix-listen-denied", w.blame(err)
		return r
	default:
		return warn("unix socket: %s", reason(err))
	}
}

var containerSocket = Probe{
	Name:     "container-gateway",
	Title:    "container programs reach their daemon",
	Does:     "for docker and podman, where installed: reads DOCKER_HOST and CONTAINER_HOST, connects to the unix socket there, or to docker's own, and sends `GET /_ping`. Hosts that are not unix sockets are not contacted.",
	Sandbox:  "the connection or the kind of socket is refused inside; by design, since a container daemon's socket is as good as root",
	Other:    "a relative path in the variable; the daemon or what is behind the socket does not run, or hangs",
	Failures: []string{"container-gateway-relative-host", "container-gateway-down", "container-socket-denied"},
	Run: func(ctx context.Context, w *World) []Result {
		var results []Result
		for _, c := range []struct{ cli, variable, socket string }{
			{"docker", "DOCKER_HOST", "/var/run/docker.sock"},
			{"podman", "CONTAINER_HOST", ""},
		} {
			results = append(results, probeContainer(ctx, w, c.cli, c.variable, c.socket).of(c.cli))
		}
		return results
	},
}

func probeContainer(ctx context.Context, w *World, cli, variable, socket string) Result {
	if _, ok := w.lookPath(cli); !ok {
		return none("%s is not on PATH", cli)
	}
	own := true
	if host := w.Getenv(variable); host != "" {
		path, ok := strings.CutPrefix(host, "unix://")
		if !ok {
			return none("%s is not a unix socket, and is not contacted", variable)
		}
		if !filepath.IsAbs(path) {
			return fail("container-gateway-relative-host", Other, "%s is %s, and a relative path there is read as the name of a host", variable, host)
		}
		socket, own = path, path == socket
	}
	if socket == "" {
		return none("%s is not set, and %s needs no daemon", variable, cli)
	}
	status, err := ping(ctx, socket)
	return judgeContainer(w, socket, own, status, err).with(map[string]string{"socket": looks(socket)})
}

// ping asks a container daemon for a sign of life; docker and podman both know
// the path.
func ping(ctx context.Context, socket string) (status int, err error) {
	conn, err := dialUnix(ctx, socket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /_ping HTTP/1.0\r\nHost: localhost\r\n\r\n"); err != nil {
		return 0, err
	}
	return readStatus(conn)
}

// readStatus reads the first line of an HTTP answer.
func readStatus(r io.Reader) (int, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 1024)).ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		return 0, err
	}
	var minor, status int
	if n, _ := fmt.Sscanf(line, "HTTP/1.%d %d", &minor, &status); n != 2 {
		return 0, errors.New("no HTTP answer")
	}
	return status, nil
}

func judgeContainer(w *World, socket string, own bool, status int, err error) Result {
	err = netReason(err)
	switch {
	case err == nil && status == 200 && own && w.Inside:
		return warn("%s can be reached from inside the sandbox: whoever reaches a container daemon owns the machine", socket).
			advise("take the socket out of what the sandbox allows")
	case err == nil && status == 200:
		return pass("%s answers", w.short(socket))
	case err == nil && status == 502:
		r := warn("%s answers 502: nothing runs behind it", w.short(socket))
		r.Catalog = "container-gateway-down"
		return r
	case err == nil:
		return warn("%s answers %d", w.short(socket), status)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return warn("%s takes the connection and does not answer", w.short(socket)).advise("restart the daemon: it hangs")
	case errors.Is(err, syscall.ECONNREFUSED):
		return warn("%s: %s", w.short(socket), reason(err)).advise("start the daemon; the socket is left over")
	}
	r := w.refused(err, "container-socket-denied", "%s: %s", w.short(socket), reason(err))
	if r.Cause == Other {
		r.Advice = "start the daemon, or see that your account may use its socket"
	}
	return r
}
