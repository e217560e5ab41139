import { InvalidCrowd } from '../lines/invalid-crowd.js'
import { CROWD_FORMAT, type Crowd, type CrowdPlayer, type CrowdParty } from '../crowd.js'
import { readSeed } from '../generate/parameters.js'
import { createStreams } from '../generate/streams.js'
import { createHabits } from './habits.js'
import { waitEndsOf } from './wait-ends.js'
import { readRecording } from './read-recording.js'
import { ticketsOf, type RecordedTickets, type TicketStory } from './recorded-tickets.js'
import { createRegionOf } from './region-of.js'
import { sequencesOf } from './sequences.js'

/** A crowd that was recorded, and what had to be left out or supposed, in sentences. */
export interface RecordedCrowd {
  readonly crowd: Crowd
  readonly notes: readonly string[]
}

export interface RecordingOptions {
  /** Whole number from 0: for what a recording does not tell. Default 1. */
  readonly seed?: number | undefined
  /** Called now and then with the share that is done, from 0 to 1: the recording is replayed. */
  readonly progressed?: ((share: number) => void) | undefined
}

/**
 * Makes a crowd of recorded traffic. Each ticket is a visit; a party that queues again does so in later visits. What a
 * recording does not tell is drawn by the seed from what it tells of others: how long those would have waited who were
 * matched, and how long those played who were not seen to leave.
 * @param lines of `recordTickets` (muster-recording-1), also of several recordings one after the other.
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
  const parties = sequencesOf(stories, habits).map(({ stories: [begin], visits }): CrowdParty => {
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
