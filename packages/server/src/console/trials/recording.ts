import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { type Locate, type Matchmaker, type QueueDefinition, recordTickets } from '@muster/matchmaker'

/** Lines outside of the heap, where the garbage collector does not walk them. */
interface LineLog {
  add(line: string): void
  /** All lines as text, in the order in which they were added. Each piece ends with a whole line. */
  pieces(): readonly Uint8Array[]
  lines(): number
  bytes(): number
}

const CHUNK = 256 * 1024

export function createLineLog(): LineLog {
  const full: Buffer[] = []
  let current = Buffer.alloc(0)
  let used = 0
  let bytes = 0
  let lines = 0

  const begin = (least: number) => {
    if (used > 0) full.push(current.subarray(0, used))
    current = Buffer.allocUnsafeSlow(Math.max(CHUNK, least))
    used = 0
  }

  return {
    add: (line) => {
      // A UTF-16 unit takes three bytes of UTF-8 at most.
      if (current.byteLength - used < line.length * 3) begin(line.length * 3)
      const written = current.write(line, used, 'utf8')
      used += written
      bytes += written
      lines += 1
    },
    pieces: () => [...full, ...(used > 0 ? [current.subarray(0, used)] : [])].map((piece) => new Uint8Array(piece)),
    lines: () => lines,
    bytes: () => bytes,
  }
}

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

interface RecordingOptions {
  readonly clock: Clock
  /** Bytes of one part. */
  readonly partBytes: number
  /** Parts that are kept. */
  readonly parts: number
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
export function createRecording({ clock, partBytes, parts, partMs }: RecordingOptions): Recording {
  const begin = (): Part => ({ log: createLineLog(), from: clock.now(), to: clock.now() })
  const isFull = ({ log }: Part) => log.bytes() >= partBytes
  /** Parts without a gap between them; the last one is being recorded, or full. */
  let chain: Part[] = [begin()]
  /** Those from before the last rest, until there is a full part after it. */
  let kept: Part[] = []
  let isPart = false
  const current = () => chain.at(-1) as Part
  const rests = (now: number) => isFull(current()) && now < current().from + partMs

  const next = (now: number) => {
    const hasRested = now - current().to > GAP_MS
    // Now there is a full part, whatever was kept from before.
    kept = hasRested ? chain.slice(1 - parts) : []
    const before = hasRested ? [] : chain.slice(1 - parts)
    isPart ||= before.length < chain.length
    chain = [...before, begin()]
  }
  /** Whether what comes next is recorded. */
  const isOn = (): boolean => {
    if (!isFull(current())) return true
    const now = clock.now()
    if (rests(now)) return false
    next(now)
    return true
  }
  const write = (line: string) => {
    // What happens to tickets by itself comes without a command.
    if (!isOn()) return
    current().log.add(line)
    current().to = clock.now()
  }

  return {
    of: (matchmaker, queues, locate) => {
      const recorded = recordTickets(matchmaker, write, { locate, queues, clock })
      return alternately(matchmaker, recorded, isOn)
    },
    latest: () => {
      const [first] = chain as [Part]
      const latest = kept.length > 0 && !isFull(first) ? kept : chain
      const goesOn = latest === chain && !rests(clock.now())
      return {
        pieces: latest.flatMap(({ log }) => log.pieces()),
        lines: latest.reduce((sum, { log }) => sum + log.lines(), 0),
        from: latest[0]?.from ?? first.from,
        to: goesOn ? clock.now() : (latest.at(-1)?.to ?? first.to),
        isPart: isPart || !goesOn,
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

/** What a trial looks at of a recorded ticket. */
export interface TicketFacts {
  readonly queues: readonly string[]
  readonly players: readonly {
    readonly coordinates?: Coordinates | undefined
    readonly attributes?: Readonly<Record<string, unknown>> | undefined
  }[]
}

/** The lines of a recording since a time. */
export function* linesOf(pieces: readonly Uint8Array[], since: number): Generator<string> {
  for (const piece of pieces) {
    for (const line of new TextDecoder().decode(piece).split('\n')) {
      if (line !== '' && timeOf(line) >= since) yield line
    }
  }
}

/** Each line begins with its time. */
export const timeOf = (line: string): number => Number(/^\{"at":(\d+)/.exec(line)?.[1] ?? Number.NaN)

interface Line {
  readonly kind: string
  readonly ticket?: TicketFacts & { readonly id: string }
}

/** The recorded tickets by id. */
export function factsIn(lines: Iterable<string>): Map<string, TicketFacts> {
  const facts = new Map<string, TicketFacts>()
  for (const line of lines) {
    const { kind, ticket } = JSON.parse(line) as Line
    if (kind === 'create' && ticket !== undefined) facts.set(ticket.id, ticket)
  }
  return facts
}
