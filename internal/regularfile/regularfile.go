// Package regularfile reads files that somebody else may have put there: only
// regular ones, up to a bound, without ever waiting. A pipe in the place of a
// configuration file must not hold a hook up, and a device must not be emptied.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNotRegular is returned for a directory, pipe, socket or device.
var ErrNotRegular = errors.New("not a regular file")

// A TooLargeError is returned for a file of more than Max bytes.
type TooLargeError struct{ Max int64 }

func (e *TooLargeError) Error() string {
	if e.Max%(1<<10) == 0 {
		return fmt.Sprintf("larger than %d KiB", e.Max>>10)
	}
	return fmt.Sprintf("larger than %d bytes", e.Max)
}

// Read returns the content of the file at path, which may be a symbolic link.
// A file that does not exist costs one call of the system. Errors other than
// [ErrNotRegular] and [TooLargeError] are those of the os package.
func Read(path string, max int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, ErrNotRegular
	case fi.Size() > max:
		return nil, &TooLargeError{max}
	}
	// Files of /proc have size 0, and others may grow meanwhile.
	data := make([]byte, 0, fi.Size()+512)
	r := io.LimitReader(f, max+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > max:
			return nil, &TooLargeError{max}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// open opens path for reading without waiting for the other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|nonblock, 0)
}
