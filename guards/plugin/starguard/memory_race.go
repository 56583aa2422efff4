//go:build race

package starguard

// memoryFactor makes room for the race detector, which keeps several bytes of
// its own for each of the program's.
const memoryFactor = 8
