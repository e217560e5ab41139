// pure: numbers in ascending order

/** Index of the first number that is not less than `number`. */
export function placeOf(numbers: readonly number[], number: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) < number) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Inserts a number unless it is present. Most numbers are the greatest so far and are appended, which moves no others.
 */
export function insert(numbers: number[], number: number): void {
  const place = placeOf(numbers, number)
  if (numbers[place] !== number) numbers.splice(place, 0, number)
}

/** Removes a number if it is present. */
export function remove(numbers: number[], number: number): void {
  const place = placeOf(numbers, number)
  if (numbers[place] === number) numbers.splice(place, 1)
}
