package statusline

import (
	"fmt"
	"time"
)

var durationSegment = Segment{
	Name: "duration",
	Doc:  "how long the session runs",
	draw: func(s *Session, _ *Layout, _ string) []span {
		if !s.Cost.Known || s.Cost.Duration <= 0 {
			return nil
		}
		return []span{{text: durationText(s.Cost.Duration), role: RoleText}}
	},
}

func durationText(d time.Duration) string {
	switch minutes := int64(d / time.Minute); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case minutes < 60:
		return fmt.Sprintf("%dm", minutes)
	default:
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	}
}
