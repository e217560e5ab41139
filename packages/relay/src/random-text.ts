// pure: random strings
/** Returns a whole number from 0 to `max` − 1, all equally likely: `crypto.randomInt`, or a seeded source in tests. */
export type RandomInt = (max: number) => number

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const randomText = (randomInt: RandomInt, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('')

/** 22 random letters and digits: 131 bits, which cannot be guessed. */
export const unguessable = (randomInt: RandomInt): string => randomText(randomInt, LETTERS_AND_DIGITS, 22)
