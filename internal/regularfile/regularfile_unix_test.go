//go:build !windows

package regularfile

import (
	"errors"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestReadNeverWaits(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Read(fifo, 100)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, ErrNotRegular) {
			t.Errorf("pipe: %v, want ErrNotRegular", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Read waits for somebody to write into the pipe")
	}
	if _, err := Read("/dev/zero", 100); !errors.Is(err, ErrNotRegular) {
		t.Errorf("device: %v, want ErrNotRegular", err)
	}
	if runtime.GOOS == "linux" {
		if got, err := Read("/proc/self/status", 1<<16); err != nil || len(got) == 0 {
			t.Errorf("file of /proc, which says it is empty: %d bytes, %v", len(got), err)
		}
	}
}
