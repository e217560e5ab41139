// pure: texts made of chance
/** A whole number from 0 to `max` − 1, all equally likely: `crypto.randomInt`, or something repeatable in tests. */
export type RandomInt = (max: number) => number

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const randomText = (randomInt: RandomInt, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')

/** 22 letters and digits: 131 bits, which nobody guesses. */
export const unguessable = (randomInt: RandomInt): string => randomText(randomInt, LETTERS_AND_DIGITS, 22)
