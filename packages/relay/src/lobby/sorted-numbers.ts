// pure: numbers in ascending order

/** Where the first number is that is not less than `number`. */
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

/** Puts a number in its place, unless it is there. Most are the greatest so far, which takes no moving of others. */
export function insert(numbers: number[], number: number): void {
  const place = placeOf(numbers, number)
  if (numbers[place] !== number) numbers.splice(place, 0, number)
}

/** Takes a number out, if it is there. */
export function remove(numbers: number[], number: number): void {
  const place = placeOf(numbers, number)
  if (numbers[place] === number) numbers.splice(place, 1)
}
