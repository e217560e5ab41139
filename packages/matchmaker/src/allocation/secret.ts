import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Compares in a time that tells nothing about where they differ. */
export const isSecret = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret))
