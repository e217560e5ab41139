import { InvalidInput } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import { oversized, variablesBytes } from './environment-share.js'
import type { FoundMatch } from './records/allocation.js'
import { LARGEST_ENVIRONMENT_BYTES } from './records/env-limits.js'

/**
 * What a match would have to tell its server does not fit into the server's environment. Nothing was created. It counts
 * as an attempt of the tickets that take more than their share.
 */
export class MatchTooLarge extends InvalidInput {
  /** Those that take more than their share; empty where the queue's own variables are what is too large. */
  readonly ticketIds: readonly string[]

  static {
    this.prototype.name = 'MatchTooLarge'
  }

  constructor(message: string, ticketIds: readonly string[]) {
    super(message, { field: 'environment' })
    this.ticketIds = ticketIds
  }
}

/** @throws {MatchTooLarge} */
export function checkSize({ environment_variables = [] }: CreateDeployment, found: FoundMatch): void {
  // A character has at most three bytes for each of its units: then there is no need to measure.
  const units = environment_variables.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (units * 3 <= LARGEST_ENVIRONMENT_BYTES) return
  const bytes = variablesBytes(environment_variables)
  if (bytes <= LARGEST_ENVIRONMENT_BYTES) return
  throw new MatchTooLarge(
    `environment: what the server is to be told has ${bytes} bytes, and at most ${LARGEST_ENVIRONMENT_BYTES} fit`,
    oversized(found),
  )
}
