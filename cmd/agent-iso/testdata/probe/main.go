// Probe prints what it was started with.
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	fmt.Printf("pid %d\n", os.Getpid())
	for _, a := range os.Args {
		fmt.Printf("arg %q\n", a)
	}
	for _, e := range os.Environ() {
		fmt.Printf("env %q\n", e)
	}
	wd, err := os.Getwd()
	fmt.Printf("dir %q %v\n", wd, err)
	mask := syscall.Umask(0)
	fmt.Printf("umask %o\n", mask)
	for fd := 0; fd < 256; fd++ {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT != 0 {
			fmt.Printf("fd %d type %o\n", fd, st.Mode&syscall.S_IFMT)
		}
	}
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	fmt.Printf("files %d\n", limit.Max)
}
