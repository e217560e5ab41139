import { BEGIN, MOST_ENTRIES, type Entries, type StreamTail, type TailOptions } from '../../stream/follow-stream.js'
import { readPrefix } from './header.js'
import type { Changes, Inbox, InboxEntry, TicketChange } from './store.js'

export async function readInbox(
  tail: StreamTail,
  key: string,
  after: string | undefined,
  options: TailOptions,
): Promise<Inbox> {
  if (after === undefined) return { cursor: await tail.end(key), entries: [], gap: false, isBehind: false }
  const { streams, gap } = await tail.read([key], [after], options)
  const [{ entries, cursor }] = streams as [(typeof streams)[number]]
  return {
    cursor: gap && entries.length === 0 ? await tail.end(key) : cursor,
    entries: inboxEntries(entries),
    gap,
    isBehind: entries.length >= MOST_ENTRIES,
  }
}

function inboxEntries(entries: Entries): InboxEntry[] {
  return entries.map(([kind, text]): InboxEntry => {
    if (kind === '+') return { kind: 'created', ticketIds: text.split(' ') }
    return kind === '-' ? cancelledIn(text) : { kind: 'ask', text }
  })
}

/** Reads both streams after a cursor, which has the positions in both, separated by `|`. */
export async function readChanges(
  tail: StreamTail,
  keys: readonly [changes: string, replies: string],
  after: string | undefined,
  options: TailOptions,
): Promise<Changes> {
  if (after === undefined) {
    const cursors = await Promise.all(keys.map((key) => tail.end(key)))
    return { cursor: cursors.join('|'), gap: false, tickets: [], replies: [], isBehind: false }
  }
  const { streams, gap } = await tail.read(keys, after.split('|'), options)
  const [changed, replied] = streams as [(typeof streams)[number], (typeof streams)[number]]
  const cursor = gap && changed.entries.length === 0 ? await tail.end(keys[0]) : changed.cursor
  return {
    // After a loss of data the stream of replies starts anew as well.
    cursor: `${cursor}|${gap ? BEGIN : replied.cursor}`,
    gap,
    tickets: changed.entries.flatMap(([, text]) => text.split('\n').map(changeOf)),
    replies: replied.entries.map(([, text]) => text),
    isBehind: changed.entries.length >= MOST_ENTRIES,
  }
}

function changeOf(line: string): TicketChange {
  const [ticketId, prefix] = line.split(' ') as [string, string]
  const { letter, version } = readPrefix(prefix)
  return { ticketId, letter, version }
}

/** Parses a cancelled entry. Ids of tickets contain no spaces; ids of players may. */
function cancelledIn(text: string): InboxEntry {
  const end = text.indexOf(' ')
  return end === -1
    ? { kind: 'cancelled', ticketId: text }
    : { kind: 'cancelled', ticketId: text.slice(0, end), by: text.slice(end + 1) }
}
