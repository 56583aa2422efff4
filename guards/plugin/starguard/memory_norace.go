//go:build !race

package starguard

// memoryFactor leaves the limit as it is.
const memoryFactor = 1
