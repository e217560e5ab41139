import { InvalidInput, type MusterError } from '@muster/core'
import { InvalidQueue, replayTickets } from '@muster/matchmaker'
import type { RecordedLine } from '@muster/matchmaker/internal'
import { InvalidCrowd, readCrowd } from '../crowd-lines.js'
import { type Crowd, CROWD_FORMAT, type CrowdParty, type CrowdPlayer, type CrowdVisit } from '../crowd.js'
import { createRegionOf, createStreams, readSeed } from '../generate/index.js'
import { createHabits, type Habit, type Habits } from './habits.js'
import { readRecording, type RecordedTickets, ticketsOf, type TicketStory } from './recorded-tickets.js'

/**
 * The end of each ticket's wait that did not end by giving up: matched or expired, by id, in epoch milliseconds; or why
 * it is unknown. A recording contains only the commands of a matchmaker, so it is replayed with its own queues.
 */
async function waitEndsOf(
  lines: readonly RecordedLine[],
  progressed?: (share: number) => void,
): Promise<{ readonly at: ReadonlyMap<string, number>; readonly unknown?: string }> {
  const start = lines.find((line) => line.kind === 'start' && line.queues !== undefined)
  if (start === undefined) return { at: new Map(), unknown: 'the recording has no queues' }
  try {
    const { tickets } = await replayTickets(numbered(start, lines), { acceptance: 'always', progressed })
    const ends = tickets.flatMap(({ id, outcome, matchedAt, endedAt }): [string, number][] => {
      const at = outcome === 'assigned' ? matchedAt : outcome === 'expired' ? endedAt : undefined
      return at === undefined ? [] : [[id, at]]
    })
    return { at: new Map(ends) }
  } catch (error) {
    if (!(error instanceof InvalidInput) && !(error instanceof InvalidQueue)) throw error
    return {
      at: new Map(),
      unknown: `the queues of the recording cannot be replayed (${(error as MusterError).message})`,
    }
  }
}

/** The lines in order, starting with the queues. Several recordings get separate numbers. */
function* numbered(start: RecordedLine, lines: readonly RecordedLine[]): Generator<string> {
  yield JSON.stringify({ ...start, n: 0, at: lines[0]?.at ?? start.at })
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'start') yield JSON.stringify({ ...line, n: index + 1 })
  }
}

/** Consecutive tickets of the same players for the same queues: the first one, and the behaviour in each. */
interface Sequence {
  readonly first: TicketStory
  readonly visits: CrowdVisit[]
  last: Habit
}

/**
 * Joins the tickets of each party. A ticket for other queues starts a new party, and so does one that was created
 * before the last one had ended.
 * @param stories in order of time. @returns in order of their first tickets.
 */
function sequencesOf(stories: readonly TicketStory[], habits: Habits): readonly Sequence[] {
  const all: Sequence[] = []
  const open = new Map<string, Sequence>()
  for (const [index, story] of stories.entries()) {
    const key = JSON.stringify(story.players.map(({ id }) => id).toSorted())
    const habit = habits.of(story, index)
    const before = open.get(key)
    const ending = before === undefined ? undefined : endingBefore(before, story)
    const visit = { patienceMs: habit.patienceMs, accepts: habit.accepts, playMs: habit.playMs }
    if (before === undefined || ending === undefined) {
      const begun: Sequence = { first: story, visits: [visit], last: habit }
      all.push(begun)
      open.set(key, begun)
      continue
    }
    const ended = before.visits.pop() as CrowdVisit
    before.visits.push({ ...ended, ...ending }, visit)
    before.last = habit
  }
  return all
}

/** How the previous visit ended, so that this ticket came when it did; undefined if it had not ended. */
function endingBefore(
  { first, last }: Sequence,
  next: TicketStory,
): Pick<CrowdVisit, 'playMs' | 'breakMs'> | undefined {
  const sameQueues = first.queues.toSorted().join('\n') === next.queues.toSorted().join('\n')
  const gapMs = Math.round(next.seenAt - last.waitedUntil)
  if (!sameQueues || gapMs < 0) return undefined
  if (last.gaveUp) return { playMs: last.playMs, breakMs: gapMs }
  // A match without a recorded end was over when the party queued again.
  const playMs = last.isPlayKnown ? last.playMs : Math.max(1, Math.min(last.playMs, gapMs))
  return gapMs < playMs ? undefined : { playMs, breakMs: gapMs - playMs }
}

/** A crowd from a recording, and sentences about what was omitted or assumed. */
export interface RecordedCrowd {
  readonly crowd: Crowd
  readonly notes: readonly string[]
}

export interface RecordingOptions {
  /** Whole number from 0, for what a recording does not contain. Default 1. */
  readonly seed?: number | undefined
  /** Called regularly with the done share of the replay, from 0 to 1. */
  readonly progressed?: ((share: number) => void) | undefined
}

/**
 * Makes a crowd from recorded traffic. Each ticket is a visit; a party that queues again does so in later visits. What
 * a recording does not contain is drawn by the seed from the other tickets' data: how long matched players would have
 * waited, and how long players played whose leaving was not recorded.
 * @param lines of `recordTickets` (muster-recording-1), possibly of several recordings in sequence.
 * @throws {InvalidCrowd} naming the line and the field
 */
export async function crowdFromRecording(
  lines: Iterable<string> | AsyncIterable<string>,
  { seed = 1, progressed }: RecordingOptions = {},
): Promise<RecordedCrowd> {
  const streams = createStreams(readSeed(seed))
  const recording = await readRecording(lines)
  const recorded = ticketsOf(recording)
  const { stories } = recorded
  const [first, last] = [stories[0], stories.at(-1)]
  if (first === undefined || last === undefined)
    throw new InvalidCrowd(1, '', 'or any other creates no ticket: the recording is empty')

  const waits = await waitEndsOf(recording, progressed)
  const habits = createHabits(stories, waits.at, streams)
  const startsAt = Math.floor(first.seenAt)
  const regionOf = createRegionOf()
  const player = (one: CrowdPlayer): CrowdPlayer =>
    one.coordinates === undefined ? one : { ...one, region: regionOf(one.coordinates) }
  const parties = sequencesOf(stories, habits).map(({ first: begin, visits }): CrowdParty => {
    const { id, seenAt, players, queues, priority } = begin
    return {
      id,
      at: Math.floor(seenAt) - startsAt,
      players: players.map(player),
      queues,
      ...(priority !== 0 && { priority }),
      visits,
    }
  })
  return {
    crowd: {
      header: { format: CROWD_FORMAT, startsAt, durationMs: Math.floor(last.seenAt) - startsAt + 1 },
      parties,
    },
    notes: notesOf(recorded, stories, waits.unknown, habits),
  }
}

function notesOf(
  { backfills, repeated, unknown }: RecordedTickets,
  stories: readonly TicketStory[],
  unmatched: string | undefined,
  { knowsPatience, knowsPlay }: { readonly knowsPatience: boolean; readonly knowsPlay: boolean },
): string[] {
  const waiting = stories.filter(({ createdAt, seenAt }) => createdAt < seenAt).length
  return [
    ...counted(backfills, 'lines about backfills, which a crowd has not'),
    ...counted(repeated, 'creates of tickets that are there already'),
    ...counted(unknown, 'lines about tickets or players from before the recording'),
    ...(waiting > 0 ? [`tickets that waited already when the recording began come then (${waiting})`] : []),
    ...(unmatched === undefined ? [] : [`when tickets were matched is not known, as ${unmatched}`]),
    ...(knowsPatience ? [] : ['nobody gave up, so patience is that of invented crowds']),
    ...(knowsPlay ? [] : ['no match was seen to end, so matches last as in invented crowds']),
  ]
}

const counted = (many: number, what: string): string[] => (many > 0 ? [`left out: ${what} (${many})`] : [])

/**
 * Reads a crowd, or makes one from a recording. The first line shows which it is.
 * @param lines from `splitLines`.
 * @param options for a recording.
 * @throws {InvalidCrowd} naming the line and the field
 */
export async function readTraffic(
  lines: AsyncIterable<string>,
  options: RecordingOptions = {},
): Promise<RecordedCrowd> {
  const rest = lines[Symbol.asyncIterator]()
  const read: string[] = []
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    read.push(next.value)
    if (next.value.trim() !== '') break
  }
  async function* all() {
    yield* read
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return isRecorded(read.at(-1) ?? '')
    ? crowdFromRecording(all(), options)
    : { crowd: await readCrowd(all()), notes: [] }
}

/** Each line of a recording has a `kind`, and no line of a crowd has. A line that is not JSON is left to the reader. */
function isRecorded(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'kind' in value
  } catch {
    return text.includes('"kind":')
  }
}
