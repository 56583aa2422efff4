// Package levenshtein measures how far a mistyped name is from one that exists.
package levenshtein

// Distance is the number of bytes to insert, delete or replace that make b of a.
// It costs the product of the lengths, so callers bound what comes from outside.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
