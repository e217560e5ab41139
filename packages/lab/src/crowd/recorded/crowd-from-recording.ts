import { InvalidInput, type MusterError } from '@muster/core'
import { InvalidQueue, replayTickets } from '@muster/matchmaker'
import type { RecordedLine } from '@muster/matchmaker/internal'
import { InvalidCrowd, readCrowd } from '../crowd-lines.js'
import { type Crowd, CROWD_FORMAT, type CrowdParty, type CrowdPlayer, type CrowdVisit } from '../crowd.js'
import { createRegionOf, createStreams, readSeed } from '../generate/index.js'
import { createHabits, type Habit, type Habits } from './habits.js'
import { readRecording, type RecordedTickets, ticketsOf, type TicketStory } from './recorded-tickets.js'

/**
 * Returns when each ticket was matched or expired, by its id, in epoch milliseconds; or why that is unknown. Tickets of
 * parties that gave up are omitted. A recording contains only commands, so it is replayed with its own queues to learn
 * the results.
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

/** Yields the lines in order, the line with the queues first. Lines of several recordings are numbered anew. */
function* numbered(start: RecordedLine, lines: readonly RecordedLine[]): Generator<string> {
  yield JSON.stringify({ ...start, n: 0, at: lines[0]?.at ?? start.at })
  for (const [index, line] of lines.entries()) {
    if (line.kind !== 'start') yield JSON.stringify({ ...line, n: index + 1 })
  }
}

/** Consecutive tickets of the same players for the same queues: the first ticket, and one visit for each ticket. */
interface Sequence {
  readonly first: TicketStory
  readonly visits: CrowdVisit[]
  last: Habit
}

/**
 * Joins the tickets of each party into sequences. A ticket for other queues starts a new party. So does a ticket that
 * was created before the previous one had ended.
 * @param stories in order of time. @returns the sequences in order of their first tickets.
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

/**
 * Returns how long the party played and paused before its next ticket. Returns undefined if that ticket starts another
 * sequence: it is for other queues, or came before the previous visit had ended.
 */
function endingBefore(
  { first, last }: Sequence,
  next: TicketStory,
): Pick<CrowdVisit, 'playMs' | 'breakMs'> | undefined {
  const sameQueues = first.queues.toSorted().join('\n') === next.queues.toSorted().join('\n')
  const gapMs = Math.round(next.seenAt - last.waitedUntil)
  if (!sameQueues || gapMs < 0) return undefined
  if (last.gaveUp) return { playMs: last.playMs, breakMs: gapMs }
  // If the end of a match was not recorded, the match is assumed to be over when the party queued again.
  const playMs = last.isPlayKnown ? last.playMs : Math.max(1, Math.min(last.playMs, gapMs))
  return gapMs < playMs ? undefined : { playMs, breakMs: gapMs - playMs }
}

/** A crowd derived from a recording, and sentences about what was omitted or assumed. */
export interface RecordedCrowd {
  readonly crowd: Crowd
  readonly notes: readonly string[]
}

export interface RecordingOptions {
  /** Seed for what a recording does not contain: a whole number from 0. Default 1. */
  readonly seed?: number | undefined
  /** Called regularly with the done share of the replay, from 0 to 1. */
  readonly progressed?: ((share: number) => void) | undefined
}

/**
 * Derives a crowd from recorded traffic. Each ticket is a visit, and a party that queues again has several visits. Two
 * facts are not recorded: how long matched players would have waited, and how long players played whose leaving is
 * missing. Both are drawn, with the seed, from the data of other tickets.
 * @param lines lines of `recordTickets` (muster-recording-1), possibly of several recordings in sequence.
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
    throw new InvalidCrowd(1, '', 'the recording is empty: no line creates a ticket')

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
    ...counted(backfills, 'lines about backfills, which a crowd cannot contain'),
    ...counted(repeated, 'creates of tickets that already exist'),
    ...counted(unknown, 'lines about tickets or players from before the recording'),
    ...(waiting > 0
      ? [`tickets that already waited when the recording began arrive at its beginning (${waiting})`]
      : []),
    ...(unmatched === undefined ? [] : [`when tickets were matched is unknown: ${unmatched}`]),
    ...(knowsPatience ? [] : ['nobody gave up, so the patience of players is taken from generated crowds']),
    ...(knowsPlay ? [] : ['no match ended, so the length of matches is taken from generated crowds']),
  ]
}

const counted = (many: number, what: string): string[] => (many > 0 ? [`left out: ${what} (${many})`] : [])

/**
 * Reads a crowd, or derives one from a recording. The first line shows which of the two the file is.
 * @param lines from `splitLines`.
 * @param options used only for a recording.
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

/**
 * Returns true for a line of a recording: it has a `kind`, unlike lines of a crowd. False for a line that is not JSON,
 * so that the reader of crowds reports the fault.
 */
function isRecorded(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'kind' in value
  } catch {
    return text.includes('"kind":')
  }
}
