import type { Config } from '../config/config.js'
import type { Log } from '../telemetry/log.js'
import { createApis, type Apis } from './apis.js'
import { changesOf, type Change } from './config-changes.js'
import type { InForce } from './in-force.js'
import type { RefusedTicket } from './matching.js'
import type { Parts } from './parts.js'

/** What came of a reload. */
export interface Reloaded {
  readonly changes: readonly Change[]
  /** Tickets that their new queue refuses. They were cancelled, unless they wait in another queue too. */
  readonly refused: readonly RefusedTicket[]
}

export interface ReloadingOptions {
  readonly inForce: InForce
  readonly parts: Parts
  readonly log: Log
  readonly onProblem: (during: string, error: unknown) => void
}

/** Sections of which the APIs are made. They begin to count anew only if one of these has changed. */
const OF_APIS = ['auth', 'addresses', 'cors', 'profiles', 'limits', 'beacons', 'inspect', 'streamTokens']
/** Tickets that are logged one by one, at most (our choice). */
const MOST_NAMED = 20

/**
 * Makes another configuration count, as far as it can without a restart. One reload after the other.
 * Rejects with an error that names what is wrong, and then nothing has changed.
 */
export function createReloading(options: ReloadingOptions): (next: Config) => Promise<Reloaded> {
  const { inForce, parts, log, onProblem } = options
  let last: Promise<unknown> = Promise.resolve()

  const apply = async (next: Config): Promise<Reloaded> => {
    const changes = changesOf(inForce.config, next).filter(({ field }) => field !== '')
    const touches = (sections: readonly string[]) =>
      changes.some(({ field }) => sections.some((name) => field === name || field.startsWith(`${name}.`)))
    const before = inForce.apis
    // What may fail comes first, so that all of it counts or nothing.
    const apis = touches(OF_APIS) ? createApis(next, parts.api) : before
    const refused = touches(['queues']) ? reconfigured(next, apis) : []
    inForce.config = next
    inForce.apis = apis
    log.setLevel(next.telemetry.log.level)
    if (apis !== before) before.close().catch((error: unknown) => onProblem('reload', error))
    // A newer file under the same name.
    await parts.locate?.reload().catch((error: unknown) => onProblem('locate', error))
    tell(log, changes, refused)
    return { changes, refused }
  }
  const reconfigured = (next: Config, apis: Apis) => {
    try {
      return parts.matching.reconfigure(next.queues)
    } catch (error) {
      if (apis !== inForce.apis) void apis.close()
      throw error
    }
  }

  return (next) => {
    const reloaded = last.then(() => apply(next))
    last = reloaded.catch(() => {})
    return reloaded
  }
}

function tell(log: Log, changes: readonly Change[], refused: readonly RefusedTicket[]): void {
  for (const { field, text, isLive } of changes) {
    if (isLive) log.info(`changed: ${field}: ${text}`)
    else log.warn(`changed, but counts after a restart only: ${field}: ${text}`)
  }
  if (changes.length === 0) log.info('reloaded: nothing has changed')
  for (const { ticketId, queue, reason } of refused.slice(0, MOST_NAMED))
    log.warn('a waiting ticket was refused by its new queue', { ticketId, queue, reason })
  if (refused.length > 0) log.warn(`${refused.length} waiting tickets were refused by their new queues`)
}
