import { InvalidInput } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import { oversized, variablesBytes } from './environment-share.js'
import type { FoundMatch } from './records/allocation.js'
import { LARGEST_ENVIRONMENT_BYTES } from './records/env-limits.js'

/**
 * The variables that describe a match do not fit into its server's environment. No deployment was created. The failure
 * counts as an attempt of the tickets that take more than their share.
 */
export class MatchTooLarge extends InvalidInput {
  /** Ids of the tickets that take more than their share; empty if the queue's own variables are too large. */
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'MatchTooLarge'
  }

  constructor(message: string, ticketIds: readonly string[]) {
    super(message, { field: 'environment' })
    this.ticketIds = ticketIds
  }
}

/**
 * Checks that the environment of a request fits.
 * @throws {MatchTooLarge}
 */
export function checkSize({ environment_variables = [] }: CreateDeployment, found: FoundMatch): void {
  // Each UTF-16 unit takes at most three bytes of UTF-8, so small environments need not be measured.
  const units = environment_variables.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (units * 3 <= LARGEST_ENVIRONMENT_BYTES) return
  const bytes = variablesBytes(environment_variables)
  if (bytes <= LARGEST_ENVIRONMENT_BYTES) return
  throw new MatchTooLarge(
    `environment: what the server is to be told has ${bytes} bytes, and at most ${LARGEST_ENVIRONMENT_BYTES} fit`,
    oversized(found),
  )
}
