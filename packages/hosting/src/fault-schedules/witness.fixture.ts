import type { Assignment, HostedMatch, ReturnReason, Server, ServerReport, StopReason } from '../records/index.js'
import type { Storage, Ticket } from './storage.fixture.js'

type Mark = ReturnType<Storage['mark']>

/** Reasons that allow Muster to end a match while people play. */
const EXCUSES: ReadonlySet<string> = new Set(['max-duration', 'left', 'stopped', 'closed', 'over', 'nobody-joined'])
/** Milliseconds by which a match may exceed its maximum duration. */
const SLACK_MS = 30_000

interface WitnessOptions {
  readonly storage: Pick<Storage, 'mark'>
  readonly now: () => number
  readonly maxDurationMs: number
}

/** Records the promises that Muster makes to players, operators and servers, and finds the broken ones. */
export type Witness = ReturnType<typeof createWitness>

export function createWitness({ storage, now, maxDurationMs }: WitnessOptions) {
  const broken = new Set<string>()
  const told = new Map<string, { readonly matchId: string; readonly handle: string; readonly mark: Mark }>()
  const sent = new Map<string, { readonly handle: string; readonly at: number; readonly mark: Mark }>()
  const begun = new Map<string, Mark>()
  const over = new Set<string>()
  const ended = new Set<string>()
  const excused = new Set<string>()
  const dissolved = new Set<string>()
  const created = new Map<string, Mark>()
  const cancelled = new Map<string, Mark>()
  const stopped = new Map<string, Mark>()
  const drained = new Map<string, Mark>()
  const saidOver = new Map<string, Mark>()
  const answers = new WeakMap<ServerReport, Mark>()
  const counts = { told: 0, matches: 0, deaths: 0, deposed: 0, acknowledged: 0, suspended: 0 }

  const holds = (marks: ReadonlyMap<string, Mark>, id: string) => marks.get(id)?.has() === true

  /**
   * Checks the address that a player gets. It may differ from the last one only in a new match after the end of the
   * last match, or if a power failure lost the last one.
   */
  const toldWhere = (ticket: Ticket, matchId: string, handle: string) => {
    if (holds(cancelled, ticket.id)) broken.add(`${ticket.id} had cancelled, and was sent to ${handle}`)
    const before = told.get(ticket.id)
    if (before?.mark.has() !== true) return
    if (before.matchId === matchId && before.handle !== handle)
      broken.add(`${ticket.id} was sent to ${before.handle}, then to ${handle} for the same match`)
    if (before.matchId !== matchId && !over.has(before.matchId))
      broken.add(`${ticket.id} was sent to ${handle}, and its match on ${before.handle} is not over`)
  }

  return {
    broken,
    counts,
    begun: (matchId: string) => {
      counts.matches += 1
      if (!over.has(matchId) && !ended.has(matchId)) begun.set(matchId, storage.mark())
    },
    told: (ticket: Ticket, matchId: string, handle: string, assignment: Assignment | undefined) => {
      toldWhere(ticket, matchId, handle)
      if (assignment === undefined) broken.add(`${ticket.id} was sent to ${handle}, and not told where that is`)
      if (holds(stopped, matchId)) broken.add(`match ${matchId} goes on, and its stop was acknowledged`)
      if (holds(saidOver, matchId)) broken.add(`match ${matchId} goes on, and its server was answered that it is over`)
      counts.told += 1
      const mark = storage.mark()
      told.set(ticket.id, { matchId, handle, mark })
      // If a power failure lost the record of the first sending, this sending counts as the first one.
      if (sent.get(matchId)?.mark.has() !== true) sent.set(matchId, { handle, at: now(), mark })
    },
    /** Called when the end of a match is about to be written. */
    ends: (matchId: string) => {
      begun.delete(matchId)
      ended.add(matchId)
    },
    over: (matchId: string, reason: ReturnReason | StopReason) => {
      begun.delete(matchId)
      over.add(matchId)
      if (EXCUSES.has(reason)) excused.add(matchId)
      if (reason === 'dissolved') dissolved.add(matchId)
    },
    taken: (match: HostedMatch, server: Server) => {
      if (holds(drained, server.id))
        broken.add(`match ${match.id} was given to ${server.id}, whose drain was acknowledged`)
    },
    /** Called when Muster is about to answer a report. */
    answers: (report: ServerReport) => void answers.set(report, storage.mark()),
    /** Called when a server has received the answer to its report. */
    acknowledged: (report: ServerReport, handle: string) => {
      const mark = answers.get(report)
      if (mark === undefined) return
      for (const { id, status } of report.matches) {
        const to = sent.get(id)
        if (status !== 'over' || to?.handle !== handle) continue
        // A power failure lost the record that the players were sent, so the match could still be dissolved.
        if (dissolved.has(id) && !to.mark.has()) continue
        counts.acknowledged += 1
        saidOver.set(id, mark)
      }
    },
    created: (ticketId: string) => void created.set(ticketId, storage.mark()),
    cancelled: (ticketId: string) => void cancelled.set(ticketId, storage.mark()),
    stopped: (matchId: string) => void stopped.set(matchId, storage.mark()),
    drained: (serverId: string) => void drained.set(serverId, storage.mark()),
    /** Called when something other than Muster may have ended the match. */
    excuse: (matchId: string) => void excused.add(matchId),
    isExcused: (matchId: string) => excused.has(matchId) || sent.get(matchId)?.mark.has() !== true,
    sentTo: (matchId: string) => sent.get(matchId)?.handle,

    /** Checks the stored state that a starting process finds. */
    finds: (matches: ReadonlySet<string>, tickets: ReadonlyMap<string, Ticket>, results: ReadonlySet<string>) => {
      for (const [id, mark] of begun)
        if (mark.has() && !matches.has(id)) broken.add(`match ${id} had begun, and is lost`)
      for (const [id, mark] of created)
        if (mark.has() && !tickets.has(id)) broken.add(`${id} was acknowledged, and is lost`)
      for (const [id, mark] of cancelled)
        if (mark.has() && tickets.get(id)?.state !== 'cancelled')
          broken.add(`${id} is ${tickets.get(id)?.state}, and its cancel was acknowledged`)
      for (const [id, mark] of saidOver) {
        if (!mark.has()) continue
        if (matches.has(id)) broken.add(`match ${id} is stored, and its server was answered that it is over`)
        if (!results.has(id)) broken.add(`the result of ${id} was acknowledged, and is lost`)
      }
      for (const [id, mark] of stopped)
        if (mark.has() && matches.has(id)) broken.add(`match ${id} is stored, and its stop was acknowledged`)
    },
    /** Checks that no match lasts too long. Called in every step in which a process leads. */
    looks: (tickets: Iterable<Ticket>, downMs: number) => {
      for (const { id, state, match = '' } of tickets) {
        if (state !== 'assigned') continue
        const { at = now() } = sent.get(match) ?? {}
        if (now() > at + maxDurationMs + SLACK_MS + downMs)
          broken.add(`${id} plays in ${match} for ${Math.round((now() - at) / 1000)} s`)
      }
    },
  }
}
