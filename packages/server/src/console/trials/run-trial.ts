import type { TrialResult, TrialSide } from '@muster/console/internal'
import { greatCircleKm } from '@muster/core'
import { type QueueDefinition, type Replay, replayTickets } from '@muster/matchmaker'
import { lasted } from '../stories/index.js'
import { factsIn, linesOf, type TicketFacts, timeOf } from './recording.js'

/** Compares both sides, the most important thing first. */
function trialSentences(asIs: TrialSide, changed: TrialSide): string[] {
  return [
    shares(asIs, changed),
    counted(asIs.matches, changed.matches),
    waitSentence('Half of the matched tickets', asIs.waitP50, changed.waitP50),
    waitSentence('95 % of the matched tickets', asIs.waitP95, changed.waitP95),
    kilometres(asIs.meanKm, changed.meanKm),
    ...asIs.spreads.map(({ attribute, mean }) => {
      const other = changed.spreads.find((spread) => spread.attribute === attribute)
      return other && differences(attribute, mean, other.mean)
    }),
  ].flatMap((sentence) => sentence ?? [])
}

const percent = (share: number) => `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`
const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })

function shares({ matchedShare: before }: TrialSide, { matchedShare: after }: TrialSide): string | undefined {
  if (before === null || after === null) return undefined
  if (percent(before) === percent(after)) return `${percent(after)} of the tickets are matched, as now.`
  return `${percent(after)} of the tickets are matched instead of ${percent(before)}.`
}

function counted(before: number, after: number): string {
  if (before === after) return `${number(after)} matches are made, as now.`
  return `${number(after)} matches are made instead of ${number(before)}.`
}

function waitSentence(who: string, before: number | null, after: number | null): string | undefined {
  if (before === null || after === null) return undefined
  const short = (ms: number) => (ms < 10_000 ? `${number(ms / 1000)} s` : lasted(ms))
  if (short(before) === short(after)) return `${who} wait at most ${short(after)}, as now.`
  return `${who} wait at most ${short(after)} instead of ${short(before)}.`
}

function kilometres(before: number | null, after: number | null): string | undefined {
  if (before === null || after === null) return undefined
  if (number(before) === number(after)) return `Players of a match are ${number(after)} km apart on average, as now.`
  return `Players of a match are ${number(after)} km apart on average instead of ${number(before)} km.`
}

function differences(attribute: string, before: number, after: number): string {
  const text = `Within a match, ${attribute} differs by ${number(after)} on average`
  return number(before) === number(after) ? `${text}, as now.` : `${text} instead of ${number(before)}.`
}

/** Players of a match whose distances are measured: more would change the mean little, and take long. */
const MEASURED = 10

function trialSide(
  queue: string,
  { tickets, matches }: Pick<Replay, 'tickets' | 'matches'>,
  facts: ReadonlyMap<string, TicketFacts>,
): TrialSide {
  const here = tickets.filter(({ id }) => facts.get(id)?.queues.includes(queue) === true)
  const matched = here.filter((ticket) => ticket.outcome === 'assigned' && ticket.queue === queue)
  const waits = matched
    .map(({ createdAt, matchedAt = createdAt }) => matchedAt - createdAt)
    .toSorted((one, other) => one - other)
  const at = (share: number) => waits[Math.max(0, Math.ceil(waits.length * share) - 1)] ?? null
  const own = matches.filter((match) => match.queue === queue)
  const players = own.map((match) => match.tickets.flatMap(({ id }) => facts.get(id)?.players ?? []))
  return {
    matches: own.length,
    matchedShare: here.length === 0 ? null : matched.length / here.length,
    waitP50: at(0.5),
    waitP95: at(0.95),
    meanKm: meanOf(players.flatMap(distances)),
    spreads: spreadsOf(players),
  }
}

type Players = TicketFacts['players']

function distances(players: Players): number[] {
  const places = players.flatMap(({ coordinates }) => coordinates ?? []).slice(0, MEASURED)
  return places.flatMap((place, index) => places.slice(index + 1).map((other) => greatCircleKm(place, other)))
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

function spreadsOf(matches: readonly Players[]): TrialSide['spreads'] {
  const spreads = new Map<string, number[]>()
  for (const players of matches) {
    for (const [attribute, values] of numbersOf(players)) {
      const spread = Math.max(...values) - Math.min(...values)
      const known = spreads.get(attribute)
      if (known === undefined) spreads.set(attribute, [spread])
      else known.push(spread)
    }
  }
  return Array.from(spreads, ([attribute, all]) => ({ attribute, mean: meanOf(all) ?? 0 }))
}

function numbersOf(players: Players): Map<string, number[]> {
  const numbers = new Map<string, number[]>()
  for (const { attributes = {} } of players) {
    for (const [attribute, value] of Object.entries(attributes)) {
      if (typeof value !== 'number') continue
      const known = numbers.get(attribute)
      if (known === undefined) numbers.set(attribute, [value])
      else known.push(value)
    }
  }
  return numbers
}

/** What a trial replays, as plain data. */
export interface TrialJob {
  readonly pieces: readonly string[]
  /** Epoch milliseconds: lines before it are left out. */
  readonly since: number
  readonly queue: string
  readonly asIs: readonly QueueDefinition[]
  readonly changed: readonly QueueDefinition[]
  /** What is known to be missing, in words. */
  readonly missing: readonly string[]
}

/** Replays recorded tickets by the queues as they are, and as they would be. @param progressed from 0 to 1 */
export async function runTrial(job: TrialJob, progressed: (share: number) => void): Promise<TrialResult> {
  const { queue, asIs, changed } = job
  const lines = [...linesOf(job.pieces, job.since)]
  const facts = factsIn(lines)
  // Servers start at once: what differs is the wait for a match.
  const before = await replayTickets(lines, { queues: asIs, startMs: 0, progressed: (share) => progressed(share / 2) })
  const after = await replayTickets(lines, {
    queues: changed,
    startMs: 0,
    acceptance: asksAnew(job) ? 'always' : 'recorded',
    progressed: (share) => progressed(0.5 + share / 2),
  })
  const sides = { asIs: trialSide(queue, before, facts), changed: trialSide(queue, after, facts) }
  const refused = after.refused.length - before.refused.length
  return {
    from: timeOf(lines[0] ?? '') || 0,
    to: timeOf(lines.at(-1) ?? '') || 0,
    tickets: [...facts.values()].filter(({ queues }) => queues.includes(queue)).length,
    missing: [...job.missing, ...(refused > 0 ? [`${refused} tickets would be refused by the changed queue.`] : [])],
    ...sides,
    sentences: trialSentences(sides.asIs, sides.changed),
  }
}

/** Whether the change adds acceptance. The trial then assumes that all players accept. */
function asksAnew({ queue, asIs, changed }: TrialJob): boolean {
  const asks = (queues: readonly QueueDefinition[]) =>
    queues.find(({ name }) => name === queue)?.acceptance !== undefined
  return !asks(asIs) && asks(changed)
}
