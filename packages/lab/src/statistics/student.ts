// pure: Student's t distribution

/**
 * The probability that Student's t lies between −√freedom · tan(angle) and the opposite (Abramowitz and Stegun, 26.7.3
 * and 26.7.4).
 */
function within(angle: number, freedom: number): number {
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)]
  const isOdd = freedom % 2 === 1
  let term = isOdd ? cosine : 1
  let sum = freedom === 1 ? 0 : term
  for (let power = isOdd ? 3 : 2; power <= freedom - 2; power += 2) {
    term *= ((power - 1) / power) * cosine ** 2
    sum += term
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum
}

/**
 * The value that Student's t exceeds with a probability, by bisection.
 * @param tail the probability, above 0 and at most 0.5.
 * @param freedom degrees of freedom: a whole number from 1.
 */
export function studentQuantile(tail: number, freedom: number): number {
  let [low, high] = [0, Math.PI / 2]
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2
    if (within(middle, freedom) < 1 - 2 * tail) low = middle
    else high = middle
  }
  return Math.sqrt(freedom) * Math.tan(low)
}
