import { InvalidInput, MusterError } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { createMatchmaker, type Matchmaker, type Ticket } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'
import { createVirtualClock, inTheLab } from '../run/index.js'
import { type Happening, LONGEST_MS, type Scene, type SceneTicket } from './scene.js'

/** Milliseconds between two rounds of the matchmaker, equal to its default. */
export const TICK_MS = 250
/** Milliseconds from create to READY of a server, as in a replay. */
const START_MS = 5000

/** Epoch milliseconds at which every scene, a test of queues with tickets and expectations, starts. */
const STARTS_AT = Date.UTC(2026, 0, 1)

/** The state of a scene at one moment. */
export interface SceneView {
  /** Milliseconds from the scene's start. */
  readonly at: number
  /** Returns a ticket; undefined before its arrival, and for a refused ticket. */
  ticket(id: string): Ticket | undefined
  /** Returns why no queue accepted a ticket; undefined if one has accepted it. */
  refusal(id: string): string | undefined
  readonly explain: Matchmaker['explain']
  /** Number that grows whenever tickets are matched, return or end. */
  readonly changes: number
}

/** An event that could not happen, e.g. the acceptance of a match by a ticket that has none. */
export interface Mishap {
  readonly happening: Happening
  readonly words: string
}

export interface ScenePlayOptions {
  readonly endsAt: number
  /** Times in milliseconds at which `stopped` is called, after the round of that time. */
  readonly stops: ReadonlySet<number>
  readonly stopped: (view: SceneView) => void
  /** Called after each round at any other time. */
  readonly ticked?: ((view: SceneView) => void) | undefined
}

/**
 * Runs a scene: the real matchmaker, on virtual time, with a simulated service that has capacity for all matches. At
 * each time, tickets arrive first, then other events happen, then the matchmaker makes a round. The same scene has the
 * same matches on every machine.
 */
export async function play(
  scene: Pick<Scene, 'queues' | 'tickets' | 'happenings'>,
  { endsAt, stops, stopped, ticked }: ScenePlayOptions,
): Promise<readonly Mishap[]> {
  const clock = createVirtualClock(STARTS_AT)
  const matchmaker = createMatchmaker({
    deployments: createStubService(clock, START_MS),
    queues: scene.queues.map((queue) => ({ ...inTheLab(queue), pool: undefined })),
    clock,
    random: seededRandom(1),
    tickMs: TICK_MS,
    maxServers: Infinity,
    maxStarting: Infinity,
    maxMatchesPerPlayer: Infinity,
    maxServersPerPlayer: Infinity,
    endedTicketTtlMs: 2 * LONGEST_MS,
    // The stopwatch is constant, so that no round is ended early, however slow the machine is.
    stopwatch: () => 0,
  })
  const mishaps: Mishap[] = []
  const refusals = new Map<string, string>()
  let changes = 0
  giveAnswers(matchmaker, scene.tickets)
  const view = (): SceneView => ({
    at: clock.now() - STARTS_AT,
    ticket: (id) => matchmaker.getTicket(id),
    refusal: (id) => refusals.get(id),
    explain: matchmaker.explain,
    changes,
  })
  for (const name of ['matchFound', 'backfillJoined', 'ticketRequeued', 'cancelled', 'expired'] as const)
    matchmaker.on(name, () => (changes += 1))
  if (ticked !== undefined) matchmaker.on('tickCompleted', () => ticked(view()))

  const createTicket = ({ id, queues, players, priority }: SceneTicket) => {
    const refused = failureOf(() => matchmaker.createTicket({ id, queues, players, priority }))
    changes += 1
    if (refused !== undefined) refusals.set(id, refused)
  }
  const perform = (happening: Happening) => {
    for (const name of happening.names) {
      const words = failureOf(() => ACTS[happening.what](name, matchmaker))
      if (words !== undefined) mishaps.push({ happening, words })
    }
  }

  matchmaker.start()
  const coming = inTurn(scene.tickets)
  const happening = inTurn(scene.happenings)
  const times = new Set([...scene.tickets, ...scene.happenings].map(({ at }) => at).concat(...stops))
  for (const at of [...times].toSorted((one, other) => one - other)) {
    if (at > endsAt) break
    await clock.reach(STARTS_AT + at)
    coming(at).forEach(createTicket)
    happening(at).forEach(perform)
    await matchmaker.tick()
    if (stops.has(at)) stopped(view())
  }
  await matchmaker.stop()
  return mishaps
}

/** Returns a function that removes and returns the due items of a list. The list is in order of time. */
function inTurn<Timed extends { readonly at: number }>(timed: readonly Timed[]): (now: number) => readonly Timed[] {
  let next = 0
  return (now) => {
    const from = next
    while (next < timed.length && (timed[next] as Timed).at <= now) next += 1
    return timed.slice(from, next)
  }
}

const ACTS: Readonly<Record<Happening['what'], (name: string, matchmaker: Matchmaker) => void>> = {
  cancel: (id, matchmaker) => void matchmaker.cancelTicket(id, matchmaker.getTicket(id)?.players[0]?.id),
  accept: (id, matchmaker) => void matchmaker.acceptMatch(id),
  decline: (id, matchmaker) => void matchmaker.declineMatch(id),
  leave: (id, matchmaker) => {
    const { matchId, players = [] } = matchmaker.getTicket(id) ?? {}
    if (matchId === undefined) throw new InvalidInput(`ticket ${id} is in no match`)
    matchmaker.playersLeft(
      matchId,
      players.map((player) => player.id),
    )
  },
  pause: (queue, matchmaker) => matchmaker.pauseQueue(queue),
  resume: (queue, matchmaker) => matchmaker.resumeQueue(queue),
}

/** Accepts and declines matches as each ticket's `answer` says. */
function giveAnswers(matchmaker: Matchmaker, tickets: readonly SceneTicket[]): void {
  const answerOf = new Map(tickets.map(({ id, answer }) => [id, answer]))
  const answerAll = ({ tickets: found }: { readonly tickets: readonly Ticket[] }) => {
    for (const { id, acceptance } of found) {
      if (acceptance === undefined) continue
      const answer = answerOf.get(id)
      // Answers wait until all players of the match have been asked. An error is ignored, because the match may have
      // dissolved by then.
      if (answer === 'accept') queueMicrotask(() => void failureOf(() => matchmaker.acceptMatch(id)))
      if (answer === 'decline') queueMicrotask(() => void failureOf(() => matchmaker.declineMatch(id)))
    }
  }
  matchmaker.on('matchFound', answerAll)
  matchmaker.on('backfillJoined', answerAll)
}

/** Returns the message of the matchmaker's error; undefined if there is none. */
function failureOf(act: () => void): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof MusterError) return error.message.replace(/^ticket: /, '')
    throw error
  }
}
