//go:build !race

package plugin

// memoryFactor leaves the limit as it is.
const memoryFactor = 1
