import type { TrialResult, TrialSide } from '@muster/console/internal'
import { greatCircleKm } from '@muster/core'
import { type QueueDefinition, type Replay, replayTickets } from '@muster/matchmaker'
import { lasted } from '../stories/index.js'
import { factsIn, linesOf, type TicketFacts, timeOf } from './recording.js'

/** Returns sentences that compare the results with the current and the changed queues, the most important one first. */
function trialSentences(asIs: TrialSide, changed: TrialSide): string[] {
  return [
    compared(asIs.matchedShare, changed.matchedShare, percent, (share) => `${share} of the tickets are matched`),
    compared(asIs.matches, changed.matches, number, (count) => `${count} matches are made`),
    compared(asIs.waitP50, changed.waitP50, short, (wait) => `Half of the matched tickets wait at most ${wait}`),
    compared(asIs.waitP95, changed.waitP95, short, (wait) => `95 % of the matched tickets wait at most ${wait}`),
    compared(asIs.meanKm, changed.meanKm, kilometres, (km) => `Players of a match are ${km} apart on average`),
    ...asIs.spreads.map(({ attribute, mean }) => {
      const after = changed.spreads.find((spread) => spread.attribute === attribute)?.mean ?? null
      return compared(mean, after, number, (by) => `Within a match, ${attribute} differs by ${by} on average`)
    }),
  ].flatMap((sentence) => sentence ?? [])
}

const percent = (share: number) => `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`
const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })

const kilometres = (value: number) => `${number(value)} km`
const short = (ms: number) => (ms < 10_000 ? `${number(ms / 1000)} s` : lasted(ms))

/** Returns a sentence that compares two numbers; undefined if one of them is missing. */
function compared(
  before: number | null,
  after: number | null,
  word: (value: number) => string,
  sentence: (after: string) => string,
): string | undefined {
  if (before === null || after === null) return undefined
  const [was, is] = [word(before), word(after)]
  return `${sentence(is)}${was === is ? ', as now' : ` instead of ${was}`}.`
}

/**
 * Maximum number of players of a match whose distances are measured. More players would take long and hardly change the
 * mean.
 */
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

/** Returns how much the players of a match differ on average in each number attribute. */
function spreadsOf(matches: readonly Players[]): TrialSide['spreads'] {
  const spreads = matches.flatMap((players) =>
    Array.from(grouped(numbersOf(players)), ([attribute, values]): Numbered => [
      attribute,
      Math.max(...values) - Math.min(...values),
    ]),
  )
  return Array.from(grouped(spreads), ([attribute, all]) => ({ attribute, mean: meanOf(all) ?? 0 }))
}

type Numbered = readonly [attribute: string, value: number]

const numbersOf = (players: Players): readonly Numbered[] =>
  players
    .flatMap(({ attributes = {} }) => Object.entries(attributes))
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number')

function grouped(numbers: readonly Numbered[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const [attribute, value] of numbers) {
    const group = groups.get(attribute)
    if (group === undefined) groups.set(attribute, [value])
    else group.push(value)
  }
  return groups
}

/** The input of a trial, as plain data for a thread. */
export interface TrialJob {
  readonly pieces: readonly string[]
  /** Epoch milliseconds. Earlier lines of the recording are skipped. */
  readonly since: number
  readonly queue: string
  readonly asIs: readonly QueueDefinition[]
  readonly changed: readonly QueueDefinition[]
  /** Sentences about what the recording lacks. */
  readonly missing: readonly string[]
}

/**
 * Replays recorded tickets, first with the current queues and then with the changed ones. @param progressed called with
 * the done share, from 0 to 1
 */
export async function runTrial(job: TrialJob, progressed: (share: number) => void): Promise<TrialResult> {
  const { queue, asIs, changed } = job
  const lines = [...linesOf(job.pieces, job.since)]
  const facts = factsIn(lines)
  // Simulated servers start immediately, because the trial compares only the waits for a match.
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

/** Returns true if the change adds acceptance to the queue. The trial then assumes that all players accept. */
function asksAnew({ queue, asIs, changed }: TrialJob): boolean {
  const asks = (queues: readonly QueueDefinition[]) =>
    queues.find(({ name }) => name === queue)?.acceptance !== undefined
  return !asks(asIs) && asks(changed)
}
