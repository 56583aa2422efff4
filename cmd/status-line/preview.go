package main

import (
	"os"
	"strings"

	"sallyport/internal/ansisvg"
	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
	"sallyport/internal/term"
)

// preview prints the sample sessions in the layout of the configuration, or
// draws them into a picture.
func preview(p *cli.Process, color bool, svg string) error {
	conf, errs := config.Load(config.Path(p.Getenv))
	for _, err := range errs {
		if !err.Unknown {
			return cli.Exitf(cli.ExitInput, "%s", term.Clean(err.Error(), 4096))
		}
	}
	layout := conf.Layout
	if svg != "" {
		layout.Depth, layout.Links = statusline.TrueColor, false
		picture := ansisvg.Draw(name, drawSamples(layout))
		if err := os.WriteFile(svg, picture, 0o644); err != nil {
			return cli.Exitf(cli.ExitInput, "%v", err)
		}
		return nil
	}
	layout.Depth = depth(p, conf, color)
	if layout.Width == 0 {
		layout.Width = columns(p)
	}
	for _, line := range drawSamples(layout) {
		say(p.Stdout, "%s:\n%s\n", line.Caption, line.Text)
	}
	previewChoices(p, layout)
	return nil
}

func drawSamples(layout statusline.Layout) []ansisvg.Line {
	var lines []ansisvg.Line
	for _, sample := range statusline.Samples() {
		l := layout
		if sample.Width > 0 {
			l.Width = sample.Width
		}
		lines = append(lines, ansisvg.Line{Caption: sample.Title, Text: statusline.Render(&sample.Session, &l)})
	}
	return lines
}

// previewChoices shows one session in every theme and set of symbols, and with
// each segment that takes no argument.
func previewChoices(p *cli.Process, layout statusline.Layout) {
	session := statusline.Samples()[statusline.SamplePullRequest].Session
	for _, name := range statusline.ThemeNames() {
		l := layout
		l.Theme, _ = statusline.ThemeNamed(name)
		say(p.Stdout, "theme = %q:\n%s\n", name, statusline.Render(&session, &l))
	}
	for _, name := range statusline.SymbolNames() {
		l := layout
		l.Symbols, _ = statusline.SymbolsNamed(name)
		say(p.Stdout, "symbols = %q:\n%s\n", name, statusline.Render(&session, &l))
	}
	say(p.Stdout, "segments:")
	layout.Width = 0
	for _, seg := range statusline.Segments() {
		if seg.Arg == "" {
			// A layout without the tag gets it in front; here it has a line of its own.
			layout.Lines = [][]statusline.Entry{{{Segment: "sandbox"}}, {{Segment: seg.Name}}}
			_, drawn, _ := strings.Cut(statusline.Render(&session, &layout), "\n")
			say(p.Stdout, "  %-14s %s  (%s)", seg.Name, drawn, seg.Doc)
			continue
		}
		say(p.Stdout, "  %-14s (%s)", seg.Name+":<"+seg.Arg+">", seg.Doc)
	}
}
