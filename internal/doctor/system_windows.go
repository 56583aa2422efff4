package doctor

import (
	"net"
	"os"
	"path/filepath"
)

// socketErr makes a socket of a kind and closes it.
func socketErr(local bool) error {
	network, address := "tcp", "127.0.0.1:0"
	if local {
		network, address = "unix", filepath.Join(os.TempDir(), "sallyport-doctor.sock")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return l.Close()
}

// executable asks whether a file is there; this system has no other sign.
func executable(path string) error {
	_, err := os.Stat(path)
	return err
}
