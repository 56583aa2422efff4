package settings

import "golang.org/x/sys/unix"

func argvOf(pid int) ([]string, bool) {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, false
	}
	return parseProcargs(data)
}

func parentOf(pid int) (int, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, false
	}
	return int(info.Eproc.Ppid), true
}
