package settings

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows/registry"
)

// osPolicies reads the registry value Settings of SOFTWARE\Policies\ClaudeCode.
// The machine's outranks the managed files; the user's counts only when there is
// nothing else.
func osPolicies() []Policy {
	var policies []Policy
	for _, hive := range []struct {
		name string
		key  registry.Key
		weak bool
	}{{"HKLM", registry.LOCAL_MACHINE, false}, {"HKCU", registry.CURRENT_USER, true}} {
		const path = `SOFTWARE\Policies\ClaudeCode`
		p := Policy{Name: hive.name + `\` + path + `\Settings`, Weak: hive.weak}
		key, err := registry.OpenKey(hive.key, path, registry.QUERY_VALUE|registry.WOW64_64KEY)
		if err == nil {
			var text string
			text, _, err = key.GetStringValue("Settings")
			p.JSON = []byte(text)
			key.Close()
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		p.Err = err
		policies = append(policies, p)
	}
	return policies
}
