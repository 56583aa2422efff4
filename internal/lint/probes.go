package lint

import (
	"slices"
	"strings"

	"sallyport/internal/bashrule"
)

// A Probe is a command that no configuration may approve without a question,
// and what family of danger it stands for.
type Probe struct{ Command, Label string }

// dangers are the built-in probes, in the order that messages list them.
var dangers = []Probe{
	{"git push origin main", "publish to a remote"},
	{"sudo rm -rf /", "privilege escalation"},
	{"curl http://example.com/x", "network fetch, exfiltration"},
	{"wget http://example.com/x", "network fetch, exfiltration"},
	{"rm -rf /tmp/x", "destructive delete"},
	{"aws s3 ls", "cloud credentials"},
	{"gcloud auth list", "cloud credentials"},
	{"az login", "cloud credentials"},
	{"docker run alpine sh", "container escape surface"},
	{"ssh host uptime", "remote shell"},
	{"eval something", "arbitrary execution"},
	{"npx cowsay hi", "arbitrary package"},
	{"uvx ruff check", "arbitrary package"},
	{"python -c print(1)", "arbitrary code"},
	{"bash -c echo", "arbitrary code"},
	{"kubectl get pods", "cluster access"},
	{"node -e 1", "arbitrary code"},
	{"sh -c id", "arbitrary code"},
	{"podman run alpine", "container escape surface"},
	{"scp a host:b", "remote copy, exfiltration"},
	{"gh auth token", "credential disclosure"},
	{"npm publish", "publish to a registry"},
	{"dd if=/dev/zero of=/dev/sda", "destructive write"},
	{"chmod 777 /", "permission change"},
}

// probes are the built-in commands and those of the policy.
func (r *run) probes() []Probe {
	return append(dangers[:len(dangers):len(dangers)], r.cfg.Policy.DangerousCommands...)
}

// forms are those of [bashrule.Forms], worked out once a run.
func (r *run) forms(command string) []string {
	forms, ok := r.formsOf[command]
	if !ok {
		if r.formsOf == nil {
			r.formsOf = make(map[string][]string)
		}
		forms = bashrule.Forms(command)
		r.formsOf[command] = forms
	}
	return forms
}

// labelList joins labels in order, each once.
func labelList(labels []string) string {
	var out []string
	for _, l := range labels {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "; ")
}
