module sallyport

go 1.26.0

require (
	github.com/google/renameio/v2 v2.0.2
	github.com/mattn/go-isatty v0.0.24
)

require golang.org/x/sys v0.50.0

require mvdan.cc/sh/v3 v3.14.1

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/rivo/uniseg v0.4.7
	github.com/rogpeppe/go-internal v1.16.0
	github.com/tidwall/gjson v1.20.3
	github.com/tidwall/match v1.1.1
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
)

require (
	github.com/tidwall/pretty v1.3.0 // indirect
	golang.org/x/tools v0.38.0 // indirect
)
