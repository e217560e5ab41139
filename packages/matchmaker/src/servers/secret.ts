import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in a time that tells nothing about where they differ. @param secret undefined where nobody was told one. */
export const isSecret = (given: string, secret: string | undefined): boolean =>
  secret !== undefined && timingSafeEqual(digest(given), digest(secret))
