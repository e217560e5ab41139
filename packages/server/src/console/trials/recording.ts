import type { Clock } from '@muster/core/clock'
import { recordTickets, type Locate, type Matchmaker, type QueueDefinition } from '@muster/matchmaker'
import { createLineLog, type LineLog } from './line-log.js'

/** What is recorded for trials: the last hour, or as much of it as its memory holds in one piece. */
export interface Recording {
  /** Returns the matchmaker to use, whose commands are recorded. */
  of(matchmaker: Matchmaker, queues: readonly QueueDefinition[], locate: Locate | undefined): Matchmaker
  /** Commands without a gap between them, the newest that there are enough of. */
  latest(): Recorded
}

export interface Recorded {
  readonly pieces: readonly Uint8Array[]
  /** Number of lines. */
  readonly lines: number
  /** Epoch milliseconds of its first line, and of its last one or now. */
  readonly from: number
  readonly to: number
  /** Whether commands before it are not in it, for want of memory. */
  readonly isPart: boolean
}

export interface RecordingOptions {
  readonly clock: Clock
  /** Bytes of one part; two are kept. */
  readonly partBytes: number
  /** Milliseconds from the begin of a part to that of the next: where a part is full sooner, recording rests. */
  readonly partMs: number
}

interface Part {
  readonly log: LineLog
  readonly from: number
  to: number
}

/**
 * Recording takes some microseconds a command, and with thousands a second no memory holds an hour of them. So parts
 * are recorded: with few commands one follows the other without a gap; with many, recording rests once a part is full.
 */
export function createRecording({ clock, partBytes, partMs }: RecordingOptions): Recording {
  const begin = (): Part => ({ log: createLineLog(), from: clock.now(), to: clock.now() })
  /** The one that was filled last, if the present one follows it or is not full yet. */
  let before: Part | undefined
  let current = begin()
  /** Whether a part was dropped that came right before those that are kept. */
  let isPart = false
  let restsUntil = 0

  /** Whether the next command is recorded. */
  const isOn = (): boolean => {
    if (current.log.bytes() < partBytes) return true
    const now = clock.now()
    if (restsUntil === 0) restsUntil = current.from + partMs
    if (now < restsUntil) return false
    isPart ||= before !== undefined || now - current.to > 0
    before = current
    current = begin()
    restsUntil = 0
    return true
  }
  const write = (line: string) => {
    current.log.add(line)
    current.to = clock.now()
  }

  return {
    of: (matchmaker, queues, locate) => {
      const recorded = recordTickets(matchmaker, write, { locate, queues, clock })
      return alternately(matchmaker, recorded, isOn)
    },
    latest: () => {
      const isFull = current.log.bytes() >= partBytes
      // A part that is being recorded continues the one before, unless recording has rested in between.
      const follows = before !== undefined && current.from - before.to < GAP_MS
      const parts = before === undefined || (isFull && !follows) ? [current] : follows ? [before, current] : [before]
      return {
        pieces: parts.flatMap(({ log }) => log.pieces()),
        lines: parts.reduce((sum, { log }) => sum + log.lines(), 0),
        from: parts[0]?.from ?? current.from,
        to: isFull || parts.at(-1) !== current ? (parts.at(-1)?.to ?? current.to) : clock.now(),
        isPart: isPart || (isFull && clock.now() > current.to),
      }
    },
  }
}

/** Milliseconds between two commands that may pass without anything in between. */
const GAP_MS = 1000

type Methods = Record<string, (...given: unknown[]) => unknown>

/** Uses the recorded matchmaker where `isOn` says so. What it does not record is the same in both. */
function alternately(plain: Matchmaker, recorded: Matchmaker, isOn: () => boolean): Matchmaker {
  const [one, other] = [plain as unknown as Methods, recorded as unknown as Methods]
  const names = Object.keys(recorded).filter((name) => one[name] !== other[name])
  const either = (name: string) =>
    (...given: unknown[]) => (isOn() ? other : one)[name]?.(...given)
  return { ...recorded, ...Object.fromEntries(names.map((name) => [name, either(name)])) }
}
