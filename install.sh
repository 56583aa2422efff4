#!/bin/sh
# Builds the programs from this source tree and installs them with
# "agent-setup install", or takes them away with --uninstall. Flags that are
# not listed in the usage go to that command; its exit code is this script's.
set -eu

usage() {
	cat <<'USAGE'
Usage: ./install.sh [flags]

Builds the programs with Go, shows what would change in your settings, asks,
and installs. Run it again to update; nothing changes if nothing is new.

  --yes          do not ask
  --dry-run      show what would change, write nothing
  --prefix DIR   where the programs go (default: ~/.claude/scripts)
  --uninstall    take everything away again
  --help         this text

All other flags are those of "agent-setup install" (or "uninstall"), such as
--only, --without, --portable, --no-rc, --json.

Exit codes: those of agent-setup; 1 if the programs cannot be built.
USAGE
}

say() { printf 'install.sh: %s\n' "$*" >&2; }
die() {
	say "$@"
	exit 1
}

# atleast HAVE WANT compares dotted versions by number.
atleast() {
	awk -v have="$1" -v want="$2" 'BEGIN {
		split(have, h, "."); split(want, w, ".")
		for (i = 1; i <= 3; i++) {
			if (h[i] + 0 > w[i] + 0) exit 0
			if (h[i] + 0 < w[i] + 0) exit 1
		}
		exit 0
	}'
}

command=install
link=no
for arg in "$@"; do
	shift
	case $arg in
	--help | -h)
		usage
		exit 0
		;;
	--uninstall)
		command=uninstall
		continue
		;;
	--link | --link=true) link=yes ;;
	esac
	set -- "$@" "$arg"
done

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || die "cannot find the source tree"
[ -f "$root/go.mod" ] || die "$root/go.mod is missing: run this script from a checkout of the source"
need=$(awk '$1 == "go" { print $2; exit }' "$root/go.mod")

# installed finds an agent-setup from an earlier installation.
installed() {
	config=${CLAUDE_CONFIG_DIR:-${HOME:-}/.claude}
	[ -x "$config/scripts/agent-setup" ] && printf '%s\n' "$config/scripts/agent-setup"
}

if ! go=$(command -v go); then
	if [ "$command" = uninstall ] && program=$(installed); then
		exec "$program" uninstall "$@"
	fi
	die "Go is not on PATH, and the programs are built from source: install Go $need or newer (https://go.dev/dl/) and run this again"
fi
# Asked in the tree, so that a Go that fetches the release named in go.mod counts.
if ! have=$(cd "$root" && "$go" env GOVERSION 2>&1); then
	die "Go $need or newer is needed (go.mod); \"go env\" says: $have"
fi
case $have in
go[0-9]*)
	have=${have#go}
	have=${have%%[!0-9.]*}
	;;
*) have=$need ;; # built from Go's own sources: the build itself will tell
esac
atleast "$have" "$need" || die "Go $need or newer is needed (go.mod), but $go is $have: update it from https://go.dev/dl/"

stamp=-buildvcs=auto
if command -v git >/dev/null; then
	version=$(git --version | awk '{ print $3 }')
	atleast "$version" 2.15 || say "git $version is too old: status-line and agent-guard read repositories with git 2.15 or newer"
	# A tree that git does not trust cannot be stamped, but can be built.
	git -C "$root" rev-parse HEAD >/dev/null 2>&1 || stamp=-buildvcs=false
else
	say "git is not on PATH: status-line and agent-guard need git 2.15 or newer to see repositories"
	stamp=-buildvcs=false
fi

if [ "$link" = yes ]; then
	build=$root/bin # links must lead to something that stays
	mkdir -p "$build"
else
	build=$(mktemp -d "${TMPDIR:-/tmp}/sallyport-build.XXXXXX") || die "cannot make a build directory in ${TMPDIR:-/tmp}"
	trap 'rm -rf "$build"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
fi

say "building with Go $have"
(cd "$root" && CGO_ENABLED=0 "$go" build -trimpath "$stamp" -ldflags '-s -w' -o "$build/" ./cmd/...) ||
	die "the build failed; nothing was installed"

status=0
if [ "$command" = install ]; then
	"$build/agent-setup" install --from "$build" "$@" || status=$?
else
	"$build/agent-setup" uninstall "$@" || status=$?
fi
exit "$status"
