// Stub stands in for every program of the suite: it answers --version with the
// name it was started by, and draws a line for anything else.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(filepath.Base(os.Args[0]), "v1.2.3 (stub)")
		return
	}
	in, _ := io.ReadAll(os.Stdin)
	fmt.Printf("[NO SANDBOX] drawn from %d bytes\n", min(len(in), 1))
}
