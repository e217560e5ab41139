import type { Config } from '../config/config.js'
import { Secret } from '../config/secret.js'

/** Shorter ones are no secrets, and would black out words. */
const SHORTEST = 6

/** The texts that must never be shown. */
export function secretsOf(config: Config): readonly string[] {
  const found: string[] = []
  const visit = (value: unknown): void => {
    if (value instanceof Secret) found.push(value.reveal())
    else if (Array.isArray(value)) for (const entry of value) visit(entry)
    else if (typeof value === 'object' && value !== null) for (const entry of Object.values(value)) visit(entry)
  }
  visit(config)
  return found.filter((text) => text.length >= SHORTEST)
}
