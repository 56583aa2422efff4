package iso

import "os/exec"

func ownGroup(*exec.Cmd) {}
