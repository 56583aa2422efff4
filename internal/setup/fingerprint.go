package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// Fingerprint is a short name for what this build would install: its version,
// the components with their hooks, and whatever else the caller adds.
func Fingerprint(version string, files map[string][]byte) string {
	table, err := json.Marshal(components())
	if err != nil {
		panic(err) // strings and numbers
	}
	all := map[string][]byte{"components.json": table, "version": []byte(version)}
	for name, data := range files {
		all[name] = data
	}
	h := sha256.New()
	names := sortedKeys(all)
	slices.Sort(names)
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0})
		h.Write(all[name])
		h.Write([]byte{0})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))[:16]
}
