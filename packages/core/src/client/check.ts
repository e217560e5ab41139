import { scrub } from '../redact.js'
import { didYouMean } from '../validation/nearest-name.js'
import { InvalidInput } from './errors.js'

/** Checks options: names the option and its value, unless it is of a kind that could hold a secret. */
export function check(holds: boolean, option: string, value: unknown, wanted: string): void {
  if (!holds)
    throw new InvalidInput(`option ${option} must be ${wanted}, not ${shown(value, wanted)}`, { field: option })
}

/** Options are read by name, so one that is misspelt would be without effect. */
export function checkNames(options: object, known: readonly string[], within = ''): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const field = `${within}${name}`
    throw new InvalidInput(`option ${field} is not known${didYouMean(name, known)}`, { field })
  }
}

/** At most what setTimeout can wait, some 24 days. */
export function checkMilliseconds(option: string, value: unknown, least = 0): void {
  check(
    typeof value === 'number' && value >= least && value < 2 ** 31,
    option,
    value,
    `a number of milliseconds from ${least}`,
  )
}

function shown(value: unknown, wanted: string): string {
  // A text in the place of anything else may be the token, and in that of the address, too.
  if (typeof value === 'string')
    return wanted === 'a text' || wanted === 'a path' ? JSON.stringify(scrub(value.slice(0, 80))) : 'a text'
  return typeof value === 'object' && value !== null
    ? 'an object'
    : typeof value === 'function'
      ? 'a function'
      : String(value)
}
