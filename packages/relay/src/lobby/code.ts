// pure: the codes by which lobbies are joined
import { randomText, type RandomInt } from '../random-text.js'

/** No vowels, so that no words come up, and no I, O or Y that look like 1, 0 or V. */
export const CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'

/** 20^8 = 2.6 × 10^10 codes for public lobbies, 20^10 = 10^13 for private ones. */
const LENGTHS = { public: 8, private: 10 } as const

export const newCode = (randomInt: RandomInt, visibility: 'public' | 'private'): string =>
  randomText(randomInt, CODE_ALPHABET, LENGTHS[visibility])

const CODE = new RegExp(`^[${CODE_ALPHABET}]{${LENGTHS.public}}(?:[${CODE_ALPHABET}]{2})?$`)

/** A code as people type it, in small letters, with spaces and dashes; undefined if it cannot be one. */
export function parseCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  return CODE.test(code) ? code : undefined
}
