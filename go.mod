module sallyport

go 1.26.0

require github.com/mattn/go-isatty v0.0.24

require golang.org/x/sys v0.50.0 // indirect
