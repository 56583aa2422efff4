// Package atomicfile replaces files so that no reader ever sees half of one.
package atomicfile
