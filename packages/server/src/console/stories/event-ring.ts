import type { RecordedEvent } from './recorded-event.js'

/** The newest events, in a bounded number and a bounded size. */
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
}

/** Bytes of an event besides its ids, and of each id besides its characters; as V8 keeps them, roughly. */
const EVENT_BYTES = 100
const ID_BYTES = 24

export function createEventRing({ mostEvents, mostBytes }: EventRingOptions): EventRing {
  const events: (RecordedEvent | undefined)[] = []
  /** Numbers of the oldest event that is kept, and of the next one to come. An event's place is its number modulo. */
  let first = 0
  let next = 0
  let bytes = 0

  const dropOldest = () => {
    const place = first % mostEvents
    bytes -= bytesOf(events[place] as RecordedEvent)
    events[place] = undefined
    first += 1
  }

  return {
    add: (event) => {
      if (next - first === mostEvents) dropOldest()
      events[next % mostEvents] = event
      next += 1
      bytes += bytesOf(event)
      for (let fits = false; !fits; ) {
        fits = bytes <= mostBytes || next - first === 1
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

function bytesOf(event: RecordedEvent): number {
  let bytes = EVENT_BYTES
  if ('ticketIds' in event) for (const id of event.ticketIds) bytes += ID_BYTES + id.length
  if ('playerIds' in event) for (const id of event.playerIds) bytes += ID_BYTES + id.length
  if ('ticketId' in event) bytes += ID_BYTES + event.ticketId.length
  if ('text' in event) bytes += event.text.length
  return bytes
}
