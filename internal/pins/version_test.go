package pins

import (
	"os/exec"
	"testing"
)

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"1.2.3", "1.2.3", 0},
		{"v1.2.3", "1.2.3", 0},
		{"1.2", "1.2.0", 0},
		{"1.2", "1.2.1", -1},
		{"0.9.0", "0.13.0", -1},
		{"0.13.0", "0.9.0", 1},
		{"1.10", "1.9", 1},
		{"01.2", "1.2", 0},
		{"99999999999999999999999999.1", "99999999999999999999999999.2", -1},
		{"1.8.1.3", "1.8.1", 1},
		{"2.1.202", "2.1.332", -1},
		{"1.0.0-rc.1", "1.0.0", -1},
		{"1.0.0-alpha", "1.0.0-alpha.1", -1},
		{"1.0.0-alpha.2", "1.0.0-alpha.10", -1},
		{"1.0.0-alpha", "1.0.0-beta", -1},
		{"1.0rc1", "1.0", -1},
		{"1.0a1", "1.0b1", -1},
		{"1.0.dev3", "1.0", -1},
		{"1.1.1b", "1.1.1", 1},
		{"1.1.1b", "1.1.1a", 1},
		{"9.6p1", "9.6", 1},
		{"1.0+build.5", "1.0", 0},
		{"0.9.0-1ubuntu0.3", "0.9.0", 1},
		{"0.9.0-1ubuntu0.3", "0.9.0-1ubuntu0.10", -1},
		{"0.9.0-1ubuntu0.3", "0.13.0", -1},
		{"1.8.0.0-4build3", "1.8.1.3", -1},
		{"1:1.0", "2.0", 1},
		{"1.0~rc1", "1.0", -1},
		{"1.0~rc1", "1.0~rc2", -1},
		{"1.0~~", "1.0~", -1},
		{"1.0+dfsg-2", "1.0+dfsg-1", 1},
		{"2026-09-22", "2026-10-01", -1},
		{"2026-09-22", "2026.9.22", 0},
		{"20260922", "20261001", -1},
		{"2026.09.22", "2025.12.31", 1},
	} {
		if got := Compare(tt.a, tt.b); got != tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Compare(tt.b, tt.a); got != -tt.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", tt.b, tt.a, got, -tt.want)
		}
	}
}

// Debian's own tool decides about Debian's versions.
func TestCompareAgreesWithDpkg(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("dpkg is not installed")
	}
	versions := []string{"0.8.0-2", "0.8.0-2ubuntu1", "0.9.0-1ubuntu0.3", "0.9.0-1ubuntu0.10", "0.13.0-1", "1:0.1-1", "1.0~rc1-1", "1.0-1", "1.0-1~bpo12", "1.8.0.0-4build3", "1.8.0.0-4", "1.8.1.3-1"}
	for _, a := range versions {
		for _, b := range versions {
			less := exec.Command(dpkg, "--compare-versions", a, "lt", b).Run() == nil
			if got := Compare(a, b) < 0; got != less {
				t.Errorf("Compare(%q, %q) < 0 is %v, dpkg says %v", a, b, got, less)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pin, installed string
		want           bool
	}{
		{"0.13.0", "0.13.0", true},
		{"0.13.0", "0.13", true},
		{"0.13.0", "0.13.0-1ubuntu2", true},
		{"0.9.0-1ubuntu0.3", "0.9.0-1ubuntu0.3", true},
		{"0.9.0-1ubuntu0.3", "0.9.0-1ubuntu0.4", false},
		{"0.13.0", "0.13.1", false},
		{"0.13.0", "0.13.0-rc1", false},
		{"0.13.0", "", false},
	} {
		if got := Matches(tt.pin, tt.installed); got != tt.want {
			t.Errorf("Matches(%q, %q) = %v", tt.pin, tt.installed, got)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("1.0~rc1-2", "2:1.0+x-3")
	f.Fuzz(func(t *testing.T, a, b string) {
		if x, y := Compare(a, b), Compare(b, a); x != -y {
			t.Errorf("Compare(%q, %q) = %d and back %d", a, b, x, y)
		}
		if Compare(a, a) != 0 || !Matches(a, a) {
			t.Errorf("%q is not itself", a)
		}
	})
}
