// pure: numbers, waits and lists as English writes them

const SMALL = 'none one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** Made when it is first asked for: this takes 10 ms, and a program that starts describes no queue. */
let format: Intl.NumberFormat | undefined

/** `2,000` and `0.5`. */
export const digits = (value: number): string =>
  (format ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 })).format(value)

/** `five`, and `13`. */
export const inWords = (value: number): string => SMALL[value] ?? digits(value)

/** `one player`, `five players`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${value === 0 ? 'no' : inWords(value)} ${value === 1 ? one : many}`

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** `250 ms`, `90 s`, `5 min`, `24 h`. */
export function duration(ms: number): string {
  if (ms >= 2 * HOUR && ms % HOUR === 0) return `${digits(ms / HOUR)} h`
  if (ms >= 2 * MINUTE && ms % MINUTE === 0) return `${digits(ms / MINUTE)} min`
  return ms < SECOND && ms > 0 ? `${digits(ms)} ms` : `${digits(ms / SECOND)} s`
}

/** `a, b and c`. */
export const listed = (words: readonly string[], last: 'and' | 'or' = 'and'): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

/** A value as the definition has it: `"ranked"`, `2,000`, `true`, `"a" and "b"`. */
export function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : listed(value.map(valueWords))
  return typeof value === 'number' ? digits(value) : JSON.stringify(value)
}

/** A clause as a sentence. */
export const sentence = (clause: string): string => `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`
