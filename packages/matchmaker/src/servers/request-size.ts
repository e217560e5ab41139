import { InvalidInput } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import { LARGEST_ENVIRONMENT_BYTES } from './records/env-limits.js'

/** What a match would have to tell its server does not fit into the server's environment. Nothing was created. */
export class MatchTooLarge extends InvalidInput {
  static {
    this.prototype.name = 'MatchTooLarge'
  }
}

/** @throws {MatchTooLarge} */
export function checkSize({ environment_variables = [] }: CreateDeployment): void {
  // A character has at most three bytes for each of its units: then there is no need to measure.
  const units = environment_variables.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (units * 3 <= LARGEST_ENVIRONMENT_BYTES) return
  const bytes = environment_variables.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes <= LARGEST_ENVIRONMENT_BYTES) return
  throw new MatchTooLarge(
    `environment: what the server is to be told has ${bytes} bytes, and at most ${LARGEST_ENVIRONMENT_BYTES} fit`,
    { field: 'environment' },
  )
}
