import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'

/** The secrets by which servers, and the service's calls about them, are known. */
export interface ServerSecrets {
  create(): string
  /** Recognizes a secret of an earlier process from now on. */
  adopt(secret: string): void
  /** Whether this process made or adopted this secret, for any match. Callers without such a secret are rejected. */
  isOne(given: string): boolean
}

/** Of a secret's 21 characters, of 5 bits each: those drawn, and those that sign them. */
const DRAWN = 11
const SIGNED = 10
const DIGITS = '0123456789abcdefghijklmnopqrstuv'
const SHAPE = new RegExp(`^[${DIGITS}]{${DRAWN + SIGNED}}$`)

/** Each carries a signature, so that to recognize one takes no list of them. Compared in constant time. */
export function createServerSecrets(random: Random): ServerSecrets {
  const key = newId(random)
  /** As many as there were servers when this process took over. */
  const adopted = new Set<string>()
  const signed = (drawn: string) => {
    const signature = createHmac('sha256', key).update(drawn).digest().subarray(0, SIGNED)
    return drawn + Array.from(signature, (byte) => DIGITS.charAt(byte & 31)).join('')
  }
  return {
    create: () => signed(newId(random).slice(0, DRAWN)),
    adopt: (secret) => void adopted.add(secret),
    isOne: (given) =>
      adopted.has(given) ||
      (SHAPE.test(given) && timingSafeEqual(Buffer.from(given), Buffer.from(signed(given.slice(0, DRAWN))))),
  }
}
