import type { Random } from '@muster/core/clock'

/** A source of tokens for sessions and users: unsigned 32-bit numbers (public fact), no two equal ones in use. */
export interface TokenSource {
  take(): number
  give(token: number): void
}

export function createTokenSource(random: Random): TokenSource {
  const used = new Set<number>()
  /** A token is never 0, because programs take 0 for no token. */
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
