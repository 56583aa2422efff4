module sallyport

go 1.26.0

require (
	github.com/google/renameio/v2 v2.0.2
	github.com/mattn/go-isatty v0.0.24
)

require golang.org/x/sys v0.50.0

require mvdan.cc/sh/v3 v3.14.1
