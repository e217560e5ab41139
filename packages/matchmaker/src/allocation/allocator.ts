import type { Clock, Random } from '@muster/core/clock'
import { MatchmakerClosed } from '../errors.js'
import type { StopReason } from '../events.js'
import { createListening } from '../probe/listening.js'
import { networkProber, type Prober } from '../probe/prober.js'
import { matchTag } from '../tags.js'
import { createWatcher } from '../watching/watcher.js'
import { createWebhookReceiver } from '../webhook/receiver.js'
import { createCreating } from './creating.js'
import type { DeploymentService, LocationService } from './deployment-service.js'
import { createGovernor, type Held, type SpendBound } from './governor.js'
import type { Journal, OpenIntent } from './journal.js'
import { createLife, type Life } from './life.js'
import type { AllocatorListener } from './listener.js'
import { newMatch, NOBODY, type FoundTicket, type Match, type Order } from './match.js'
import { createMatches } from './matches.js'
import { createNotes } from './notes.js'
import { isSecret } from './secret.js'

/** A match before it gets a server; `queue`: its name, `at`: epoch milliseconds. */
type FoundBy = Pick<Match, 'matchId' | 'queue' | 'at'>

/** Gets a server for each match, and lets go of none before the service has confirmed its end. */
export interface Allocator {
  /** Takes over what the journal says may still exist, once. False while it cannot be read: then nothing may be allocated. */
  recover(): Promise<boolean>
  /** How many matches may be allocated now. */
  room(now: number): number
  /** Resolves when the intent is written down; what comes of it is told to the listener. */
  allocate(match: FoundBy, order: Order): Promise<void>
  /** The match is not wanted any more; the caller sees to its tickets. */
  drop(match: Match, reason: StopReason): void
  find(matchId: string): Match | undefined
  matches(): Iterable<Match>
  /** Who is in a match now: those who came later, and not those who left. */
  setPlayers(match: Match, playerIds: readonly string[]): void
  /** Something may have happened to a deployment; it is looked up. */
  hint(requestId: string): void
  /** Takes the service's calls about deployments. Never rejects. */
  webhook(request: Request): Promise<Response>
  /** The server of a match says that players may come. False for no such match, and a wrong secret. */
  serverReady(matchId: string, secret: string): boolean
  /** Does what is due: looks at deployments, stops, looks for lost ones, time-outs. */
  advance(now: number): void
  /** Resolves when nothing of the match is left. @throws {MatchmakerClosed} */
  whenEnded(match: Match): Promise<void>
  /** From now on, a deployment that several looks did not find is given up. */
  giveUpSooner(): void
  /** Waits for the journal, and lets go of whoever waits for a match to end. */
  close(): Promise<void>
  /** Stops that are not confirmed. */
  stopsPending(): number
  /** Why there was no room when it was last asked; undefined if there was. */
  held(): Held | undefined
  /** Epoch milliseconds until which nothing is created, because the service takes nothing. */
  pausedUntil(): number
}

export interface AllocatorOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity; without it, a match for which there was none tries no other place. */
  readonly locations?: LocationService | undefined
  readonly journal: Journal
  readonly clock: Clock
  readonly random: Random
  /** The tag of all deployments of this matchmaker. */
  readonly ownTag: string
  readonly bound: SpendBound
  /** Creates whose answer is awaited; the others wait for their turn. */
  readonly maxCreatesInFlight: number
  /** Status reads at most. */
  readonly readsPerSecond: number
  /** Milliseconds for which the service may not show or know yet what it has created. */
  readonly listLagMs: number
  /** Milliseconds after which a deployment with our tag is stopped of which nothing is known; Infinity for never. */
  readonly reapAfterMs: number
  /** Under which `webhook` can be reached; undefined for no webhooks. */
  readonly webhookUrl?: string | undefined
  /** Default: over the network. */
  readonly prober?: Prober | undefined
  readonly on: AllocatorListener
}

export function createAllocator(options: AllocatorOptions): Allocator {
  const { service, locations, journal, clock, random, ownTag, bound, listLagMs, reapAfterMs, on } = options
  const matches = createMatches()
  const governor = createGovernor(bound, random)
  const notes = createNotes(journal, (error, matchId) => on.problem('journal', error, matches.find(matchId)))

  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    report: (sighting) => life.sighted(sighting),
    stranger: (entry) => life.listed(entry),
    problem: (during, error, requestId) => {
      on.problem(during, error, requestId === undefined ? undefined : matches.byRequest(requestId), requestId)
    },
  })
  const listening = createListening({
    prober: options.prober ?? networkProber,
    clock,
    listened: (match, listens) => life.listened(match, listens),
    problem: (error, match) => on.problem('probe', error, match, match.requestId),
  })
  const life: Life = createLife({
    service,
    matches,
    notes,
    watcher,
    listening,
    clock,
    random,
    listLagMs,
    reapAfterMs,
    again: (match) => void creating.again(match),
    on,
  })
  const webhooks = createWebhookReceiver({ baseUrl: options.webhookUrl, find: matches.find, hinted: life.hinted })
  const creating = createCreating({
    service,
    locations,
    journal,
    governor,
    matches,
    life,
    clock,
    random,
    maxCreatesInFlight: options.maxCreatesInFlight,
    ownTag,
    webhookUrlOf: webhooks.urlOf,
    on,
  })

  const recovered = ({ requestId, assigned, endsAt = Infinity, assignment, ...intent }: OpenIntent) => {
    const match = newMatch(intent)
    matches.add(match)
    if (!assigned) match.unwanted = 'restarted'
    if (requestId === undefined) return life.lose(match)
    life.exists(match, requestId)
    if (!assigned) return
    matches.enter(match, 'running')
    match.endsAt = endsAt
    match.assignment = assignment
    watcher.settle(requestId)
  }
  const recover = async (): Promise<void> => {
    for (const open of await journal.open()) recovered(open)
  }
  let recovering: Promise<void> | undefined
  let isRecovered = false

  return {
    recover: async () => {
      recovering ??= recover()
      try {
        await recovering
        isRecovered = true
      } catch (error) {
        recovering = undefined
        on.problem('journal', error)
      }
      return isRecovered
    },

    room: (now) => governor.room({ count: matches.count(), startingCount: matches.startingCount() }, now),

    allocate: ({ matchId, queue, at }, order) => {
      const { tickets } = order
      const intent = {
        matchId,
        queue,
        tag: matchTag(matchId),
        ticketIds: tickets.map(({ id }) => id),
        playerIds: playerIdsOf(tickets),
        at,
      }
      return creating.begin(newMatch(intent, order))
    },

    drop: (match, reason) => {
      const { phase, requestId } = match
      match.unwanted ??= reason
      if (requestId === undefined) creating.forget(match)
      else if (phase !== 'stopping' && phase !== 'retrying') life.stop(match, requestId)
    },

    find: (matchId) => matches.find(matchId),
    matches: () => matches.all(),
    setPlayers: (match, playerIds) => {
      match.playerIds = playerIds
      notes.note({ kind: 'players', matchId: match.matchId, playerIds })
    },

    hint: (requestId) => watcher.hint(requestId),
    webhook: (request) => webhooks.receive(request),
    serverReady: (matchId, secret) => {
      const match = matches.find(matchId)
      if (match === undefined || !isSecret(secret, match.order?.secret)) return false
      listening.registered(match)
      // It runs, so it is READY by now.
      life.hinted(match, undefined)
      return true
    },

    advance: (now) => {
      // Before the journal was read, everything would look as if it were nobody's.
      if (isRecovered) watcher.look(now)
      life.advance(now)
      creating.advance(now)
    },

    whenEnded: (match) =>
      new Promise((resolve, reject) => {
        match.ended = [...match.ended, (error) => (error === undefined ? resolve() : reject(error))]
      }),
    giveUpSooner: () => life.giveUpSooner(),
    close: async () => {
      watcher.close()
      listening.close()
      for (const match of matches.all()) {
        const error = new MatchmakerClosed(`the matchmaker was closed before the end of match ${match.matchId} was confirmed`)
        const { ended } = match
        match.ended = NOBODY
        for (const tell of ended) tell(error)
      }
      await notes.written()
      await journal.close?.()
    },
    stopsPending: life.stopsPending,
    held: governor.held,
    pausedUntil: governor.pausedUntil,
  }
}

function playerIdsOf(tickets: readonly FoundTicket[]): readonly string[] {
  // A list that something is pushed to is given room for many, and most tickets are one player.
  if (tickets.every(({ players }) => players.length === 1)) return tickets.map(({ players }) => players[0]?.id as string)
  const ids: string[] = []
  for (const { players } of tickets) for (const { id } of players) ids.push(id)
  return ids
}
