package guards

import (
	"slices"
	"strings"

	"sallyport/internal/shellcmd"
)

// mounted judges a path in a container by the directory of the host that stands
// there.
func (c *Call) mounted(p string) (located, bool) {
	host, outer, ok := c.hostPath(p)
	if !ok {
		return located{}, false
	}
	return outer.locateText(host), true
}

// A bind is a directory of the host that a container sees.
type bind struct{ host, at string }

// A container is the one that a command runs in.
type container struct {
	by     *Call  // the command that it is started or entered with; nil: not known
	binds  []bind // what it mounts so that it can be written to
	onHost *Call  // the command as if it ran where by does
	// throwaway is set for one that is made for the command: what the image holds
	// is still in the image.
	throwaway bool
}

// maxBinds bounds the mounts that are looked at.
const maxBinds = 50

// container looks the container of c up, once for all its operands.
func (c *Call) container() *container {
	if c.inside == nil {
		c.inside = &container{}
		if c.inside.by, c.inside.binds = c.startedBy(); c.inside.by != nil {
			c.inside.onHost = c.onHost(c.inside.by)
			c.inside.throwaway = c.isThrowaway(c.inside.by)
		}
		if len(c.inside.binds) > maxBinds {
			c.inside.binds = c.inside.binds[:maxBinds]
			c.run.unseen = true
		}
	}
	return c.inside
}

func (c *Call) startedBy() (e *Call, binds []bind) {
	earlier := c.Earlier()
	for i := len(earlier) - 1; i >= 0; i-- {
		switch earlier[i].name {
		case "docker", "podman", "nerdctl":
			e = earlier[i]
		default:
			continue
		}
		break
	}
	if e == nil {
		return nil, nil
	}
	for _, w := range e.Args[1:] {
		spec := strings.TrimPrefix(strings.TrimPrefix(w.Value, "--volume="), "-v")
		parts := strings.Split(spec, ":")
		if len(parts) < 2 || !isAbs(parts[1]) || len(parts) > 2 && strings.Contains(parts[2], "ro") {
			continue
		}
		binds = append(binds, bind{parts[0], clean(parts[1])})
	}
	for i, w := range e.Args {
		spec, ok := w.After("--mount=")
		if !ok && w.Value == "--mount" && i+1 < len(e.Args) {
			spec, ok = e.Args[i+1], true
		}
		if !ok {
			continue
		}
		src, dst := "", ""
		for field := range strings.SplitSeq(spec.Value, ",") {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "src", "source":
				src = value
			case "dst", "target", "destination":
				dst = value
			case "ro", "readonly":
				dst = ""
			}
		}
		if isAbs(src) && isAbs(dst) {
			binds = append(binds, bind{src, clean(dst)})
		}
	}
	return e, binds
}

// hostPath is the path of the host that -v, --volume or --mount of the
// container's own command puts at p, and the command as if it ran there.
func (c *Call) hostPath(p string) (host string, at *Call, ok bool) {
	if p == "" {
		return "", nil, false
	}
	in := c.container()
	for _, b := range in.binds {
		if within(p, b.at) {
			return b.host + strings.TrimPrefix(p, b.at), in.onHost, true
		}
	}
	return "", nil, false
}

// onHost is c as if it ran where its container is started.
func (c *Call) onHost(e *Call) *Call {
	cmd := *c.Command
	cmd.Container, cmd.Dir = false, e.Dir
	return &Call{Command: &cmd, run: c.run, Index: c.Index, name: c.name, Place: e.Place}
}

// isThrowaway reports that e makes the container for c.
func (c *Call) isThrowaway(e *Call) bool {
	started := false
	for _, l := range c.Via {
		switch l.Name {
		case "docker run", "podman run", "nerdctl run":
			started = true
		case "chroot", "nsenter":
			return false // into a mount, or out of the container
		}
	}
	if !started {
		return false
	}
	for _, w := range e.Args[1:] {
		switch name, _, _ := strings.Cut(w.Value, "="); name {
		case "compose", "--volumes-from":
			return false
		}
	}
	return true
}

// containerFinding judges what a command takes away in a container: what is
// mounted there is the host's, the rest at most the container's own.
func (c *Call) containerFinding(loc located, w shellcmd.Word, what string) []Finding {
	if host, ok := c.mounted(loc.path); ok {
		return c.placeFinding(host, w, what+" through a mount of")
	}
	in := c.container()
	for _, b := range in.binds {
		if loc.path != "" && within(b.at, loc.path) {
			if f := c.placeFinding(in.onHost.locateText(b.host), w, what+" through a mount below"); f != nil {
				return f
			}
		}
	}
	if loc.area < system || in.throwaway {
		return nil
	}
	out := c.placeFinding(loc, w, what+" of")
	if !slices.ContainsFunc(c.Via, func(l shellcmd.Layer) bool { return l.Name == "chroot" || l.Name == "nsenter" }) {
		for i := range out {
			out[i].Verdict = Ask
		}
	}
	return out
}
