package main

import (
	"os"

	"sallyport/internal/ansisvg"
	"sallyport/internal/cli"
	"sallyport/internal/statusline"
	"sallyport/internal/statusline/config"
)

// preview prints the sample sessions in the layout of the configuration, or
// draws them into a picture.
func preview(p *cli.Process, color bool, svg string) error {
	conf, _ := config.Load(config.Path(p.Getenv))
	layout := conf.Layout
	layout.Depth = depth(p, conf, color)
	if layout.Width == 0 {
		layout.Width = columns(p)
	}
	if svg != "" {
		layout.Depth, layout.Width, layout.Links = statusline.TrueColor, conf.Layout.Width, false
	}
	var lines []ansisvg.Line
	for _, sample := range statusline.Samples() {
		l := layout
		if sample.Width > 0 {
			l.Width = sample.Width
		}
		lines = append(lines, ansisvg.Line{Caption: sample.Title, Text: statusline.Render(&sample.Session, &l)})
	}
	if svg == "" {
		for i, line := range lines {
			if i > 0 {
				say(p.Stdout, "")
			}
			say(p.Stdout, "%s:\n%s", line.Caption, line.Text)
		}
		return nil
	}
	if err := os.WriteFile(svg, ansisvg.Draw("status-line", lines), 0o644); err != nil {
		return cli.Exitf(cli.ExitInput, "%v", err)
	}
	return nil
}
