// pure: values that look the same to users but are different for a rule

/** Another value that looks the same, and how it differs, e.g. `as a text, not as a number`. */
export interface Similar {
  readonly value: unknown
  readonly how: string
}

/** Finds a value that looks like one of the others but equals none of them; undefined if there is none. */
export function similarTo(values: readonly unknown[], others: readonly unknown[]): Similar | undefined {
  if (others.length === 0) return undefined
  for (const value of values) {
    const near = others.find((other) => looksLike(other, value))
    if (near === undefined || others.includes(value)) continue
    const [theirs, ours] = [near, value].map((one) => TYPES[typeof one] ?? 'another type')
    return { value, how: theirs === ours ? 'in another Unicode form' : `as ${theirs}, not as ${ours}` }
  }
  return undefined
}

/** True if two different values look the same: in another Unicode form, or of another type. */
const looksLike = (one: unknown, other: unknown): boolean =>
  one !== other && (isPlain(one, other) ? String(one) === String(other) : formOf(one) === formOf(other))

/** True if both are ASCII, so that Unicode forms do not matter. */
const isPlain = (one: unknown, other: unknown): boolean => isAscii(one) && isAscii(other)
const isAscii = (value: unknown): boolean => typeof value !== 'string' || !/[^ -~]/.test(value)

const TYPES: Readonly<Record<string, string>> = { string: 'a text', number: 'a number', boolean: 'a boolean' }

const formOf = (value: unknown): string => String(value).normalize('NFKC')
