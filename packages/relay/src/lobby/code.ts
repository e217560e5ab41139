// pure: the codes by which lobbies are joined
import { randomText, type RandomInt } from '../random-text.js'

/** The letters of codes: no vowels, so that codes form no words, and no I, O or Y, which look like 1, 0 or V. */
export const CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'

/** 20^8 = 2.6 × 10^10 codes for public lobbies, 20^10 = 10^13 for private ones. */
const LENGTHS = { public: 8, private: 10 } as const

export const newCode = (randomInt: RandomInt, visibility: 'public' | 'private'): string =>
  randomText(randomInt, CODE_ALPHABET, LENGTHS[visibility])

const CODE = new RegExp(`^[${CODE_ALPHABET}]{${LENGTHS.public}}(?:[${CODE_ALPHABET}]{2})?$`)

/** Reads a code as people type it, with lower case, spaces and dashes; undefined if it cannot be one. */
export function parseCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  return CODE.test(code) ? code : undefined
}
