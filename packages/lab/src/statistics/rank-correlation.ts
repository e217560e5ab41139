// pure: how alike two orders are

/**
 * Spearman's rank correlation of pairs of numbers: 1 if both are in the same order, 0 if one says nothing of the other.
 * Equal numbers share their ranks. 0 if there are fewer than two pairs, or all numbers of one side are equal.
 */
export function rankCorrelation(pairs: readonly (readonly [number, number])[]): number {
  const ones = ranksOf(pairs.map(([one]) => one))
  const others = ranksOf(pairs.map(([, other]) => other))
  const middle = (pairs.length - 1) / 2
  let [both, squares, otherSquares] = [0, 0, 0]
  for (const [index, rank] of ones.entries()) {
    const [one, other] = [rank - middle, (others[index] as number) - middle]
    both += one * other
    squares += one * one
    otherSquares += other * other
  }
  return squares === 0 || otherSquares === 0 ? 0 : both / Math.sqrt(squares * otherSquares)
}

/** The rank of each number, from 0; the average of their ranks for equal ones. */
function ranksOf(numbers: readonly number[]): Float64Array {
  const order = numbers.map((_, index) => index).toSorted((one, other) => at(numbers, one) - at(numbers, other))
  const ranks = new Float64Array(numbers.length)
  for (let first = 0; first < order.length;) {
    let next = first + 1
    while (next < order.length && at(numbers, order[next]) === at(numbers, order[first])) next += 1
    for (let place = first; place < next; place += 1) ranks[order[place] as number] = (first + next - 1) / 2
    first = next
  }
  return ranks
}

const at = (numbers: readonly number[], index: number | undefined): number => numbers[index as number] as number
