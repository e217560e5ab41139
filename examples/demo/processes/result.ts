import type { Ticket } from '@muster/matchmaker'
import { isGood, type DemoResult } from '../result.js'

/** The additional results of a demo with several processes. */
export interface ProcessesResult {
  readonly processes: number
  /** Seconds from the end of each leader until another process led. */
  readonly takeoverSeconds: readonly number[]
  /** Number of acknowledged tickets that no process knows any more, or that have no result: must be 0. */
  readonly ticketsLost: number
  /** Number of matches for which more than one server was created at the same location: must be 0. */
  readonly matchesWithTwoServers: number
  /** Number of requests of players that were repeated because a process had ended. */
  readonly repeated: number
}

export interface ProcessesDemoResult extends DemoResult {
  readonly several: ProcessesResult
}

export interface Seen {
  readonly processes: number
  readonly ended: readonly Ticket[]
  /** Ids of the tickets whose creation was acknowledged. */
  readonly acknowledged: readonly string[]
  readonly repeated: number
  readonly takeoversMs: readonly number[]
  readonly deployments: readonly { readonly tags?: readonly string[] | null | undefined }[]
}

export function processesResult(
  result: DemoResult,
  { processes, ended, acknowledged, ...seen }: Seen,
): ProcessesDemoResult {
  const known = new Set(ended.map(({ id }) => id))
  const open = ended.filter(({ status }) => status === 'SEARCHING' || status === 'MATCH_FOUND')
  const lost = acknowledged.filter((id) => !known.has(id))
  const servers = new Map<string, number>()
  // Each attempt to create a server has its own tag. The other tag is common to all servers.
  for (const { tags } of seen.deployments) {
    for (const tag of tags ?? []) if (!tag.startsWith('mm-')) servers.set(tag, (servers.get(tag) ?? 0) + 1)
  }
  return {
    ...result,
    several: {
      processes,
      takeoverSeconds: seen.takeoversMs.map((ms) => Math.round(ms / 10) / 100),
      ticketsLost: lost.length + (result.interrupted === undefined ? open.length : 0),
      matchesWithTwoServers: [...servers.values()].filter((count) => count > 1).length,
      repeated: seen.repeated,
    },
  }
}

/** Returns true if the result is as it should be, although two processes were killed. */
export const isGoodInProcesses = (result: ProcessesDemoResult): boolean => {
  const { ticketsLost, matchesWithTwoServers, takeoverSeconds } = result.several
  const promised = ticketsLost === 0 && matchesWithTwoServers === 0
  return isGood(result) && promised && (result.interrupted !== undefined || takeoverSeconds.length > 0)
}
