import type { Random } from '@muster/core/clock'

/** Tokens of sessions and users: unsigned 32-bit numbers (public fact), each in use once. */
export interface TokenSource {
  take(): number
  give(token: number): void
}

export function createTokenSource(random: Random): TokenSource {
  const used = new Set<number>()
  /** Never 0, which programs take for none. */
  const draw = () => 1 + Math.floor(random() * 0xffff_ffff)
  return {
    take: () => {
      let token = draw()
      while (used.has(token)) token = draw()
      used.add(token)
      return token
    },
    give: (token) => void used.delete(token),
  }
}
