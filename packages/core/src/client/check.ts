import { scrub } from '../redact.js'
import { didYouMean } from '../validation/nearest-name.js'
import { InvalidInput } from './errors.js'

/** Checks an option. The error names the option, and its value unless that is of a type that could hold a secret. */
export function check(holds: boolean, option: string, value: unknown, wanted: string): void {
  if (!holds)
    throw new InvalidInput(`option ${option} must be ${wanted}, not ${shown(value, wanted)}`, { field: option })
}

/** Refuses unknown names: options are read by name, so a misspelt option would have no effect. */
export function checkNames(options: object, known: readonly string[], within = ''): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const field = `${within}${name}`
    throw new InvalidInput(`option ${field} is not known${didYouMean(name, known)}`, { field })
  }
}

/** Checks a duration. The maximum is what setTimeout can wait, about 24 days. */
export function checkMilliseconds(option: string, value: unknown, least = 0): void {
  check(
    typeof value === 'number' && value >= least && value < 2 ** 31,
    option,
    value,
    `a number of milliseconds from ${least}`,
  )
}

function shown(value: unknown, wanted: string): string {
  // A text is not shown: where an option expects something else, or even the address, it may be the token by mistake.
  if (typeof value === 'string')
    return wanted === 'a text' || wanted === 'a path' ? JSON.stringify(scrub(value.slice(0, 80))) : 'a text'
  return typeof value === 'object' && value !== null
    ? 'an object'
    : typeof value === 'function'
      ? 'a function'
      : String(value)
}
