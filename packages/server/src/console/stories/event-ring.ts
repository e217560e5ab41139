import type { RecordedEvent } from './recorded-event.js'

/** The newest events, in a bounded number, size and age. */
export interface EventRing {
  add(event: RecordedEvent): void
  /** In the order of time. Events that are dropped while one reads are left out. */
  scan(): Iterable<RecordedEvent>
  /** When the oldest event that is kept happened; undefined if none is. */
  since(): number | undefined
  hasDropped(): boolean
  size(): number
}

export interface EventRingOptions {
  readonly mostEvents: number
  readonly mostBytes: number
  /** Milliseconds. Default: age alone removes nothing. */
  readonly keepMs?: number | undefined
}

/** Bytes of an event besides its ids, and of each id besides its characters; as V8 keeps them, roughly. */
const EVENT_BYTES = 100
const ID_BYTES = 24

export function createEventRing({ mostEvents, mostBytes, keepMs = Infinity }: EventRingOptions): EventRing {
  const events: (RecordedEvent | undefined)[] = []
  /** Bytes of each. */
  const weights = new Uint32Array(mostEvents)
  /** Numbers of the oldest event that is kept, and of the next one to come. An event's place is its number modulo. */
  let first = 0
  let next = 0
  let bytes = 0

  const dropOldest = () => {
    const place = first % mostEvents
    bytes -= weights[place] as number
    events[place] = undefined
    first += 1
  }

  return {
    add: (event) => {
      if (next - first === mostEvents) dropOldest()
      const place = next % mostEvents
      const weight = bytesOf(event)
      events[place] = event
      weights[place] = weight
      next += 1
      bytes += weight
      const since = event.at - keepMs
      for (let fits = false; !fits; ) {
        const isOld = (events[first % mostEvents]?.at ?? since) < since
        fits = (bytes <= mostBytes && !isOld) || next - first === 1
        if (!fits) dropOldest()
      }
    },
    *scan() {
      for (let number = first; number < next; number = Math.max(number + 1, first)) {
        const event = events[number % mostEvents]
        if (event !== undefined) yield event
      }
    },
    since: () => events[first % mostEvents]?.at,
    hasDropped: () => first > 0,
    size: () => next - first,
  }
}

/** By kind: asking an event whether it has a field takes longer than all else here. */
function bytesOf(event: RecordedEvent): number {
  switch (event.what) {
    case 'created':
      return EVENT_BYTES + ID_BYTES + event.ticketId.length + bytesOfAll(event.playerIds)
    case 'assigned':
      return EVENT_BYTES + bytesOfAll(event.ticketIds) + bytesOfAll(event.hosts)
    case 'found':
    case 'joined':
      return EVENT_BYTES + bytesOfAll(event.ticketIds)
    case 'accepted':
      return EVENT_BYTES + ID_BYTES + event.ticketId.length + bytesOfAll(event.playerIds)
    case 'left':
      return EVENT_BYTES + bytesOfAll(event.playerIds)
    case 'failed':
      return EVENT_BYTES + ID_BYTES + (event.detail?.length ?? 0)
    case 'problem':
      return EVENT_BYTES + event.text.length
    default:
      return EVENT_BYTES + ID_BYTES
  }
}

function bytesOfAll(ids: readonly string[]): number {
  let bytes = 0
  for (const id of ids) bytes += ID_BYTES + id.length
  return bytes
}
