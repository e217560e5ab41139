import { defineScript, type Reply } from '../../../connection/script.js'
import type { Batch, StoredRecord, StoredTicket } from '../store.js'
import { MANY } from './lua.js'
import { storedTicket } from './stored.js'

/** KEYS: bodies, headers. ARGV: cursor, about how many. Answer: the next cursor, then id, body, header of each. */
const TICKETS = `
${MANY}
local next, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]))
local ids, tickets = {}, {next}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
for i, header in ipairs(get(KEYS[2], ids, 1, #ids)) do
  if not header or string.byte(header) ~= 67 then
    tickets[#tickets + 1] = ids[i]
    tickets[#tickets + 1] = found[2 * i]
    tickets[#tickets + 1] = header
  end
end
return tickets
`

export const loadTicketsScript = defineScript({
  name: 'partition.loadTickets',
  lua: TICKETS,
  kind: 'read',
  read: (reply): Batch<StoredTicket> => {
    const [next, ...rest] = reply as readonly (string | null)[]
    const items: StoredTicket[] = []
    for (let at = 0; at < rest.length; at += 3) {
      items.push(storedTicket(rest[at] as string, rest[at + 1] as string, rest[at + 2] ?? null))
    }
    return { items, next: nextOf(next as string) }
  },
})

/** KEYS: records, locks. ARGV: cursor, about how many. Answer: the next cursor, then match, record, locked of each. */
const RECORDS = `
${MANY}
local next, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2]))
local matches, records = {}, {next}
for i = 1, #found, 2 do matches[#matches + 1] = found[i] end
for i, locked in ipairs(get(KEYS[2], matches, 1, #matches)) do
  records[#records + 1] = matches[i]
  records[#records + 1] = found[2 * i]
  records[#records + 1] = locked
end
return records
`

export const loadRecordsScript = defineScript({
  name: 'partition.loadRecords',
  lua: RECORDS,
  kind: 'read',
  read: (reply): Batch<StoredRecord> => {
    const [next, ...rest] = reply as readonly (string | null)[]
    const items: StoredRecord[] = []
    for (let at = 0; at < rest.length; at += 3) {
      const [matchId, text, locked] = rest.slice(at, at + 3) as [string, string, string | null]
      items.push({ matchId, text, locked: locked?.split(' ') ?? [] })
    }
    return { items, next: nextOf(next as string) }
  },
})

/** Reads the answer of HSCAN. */
export function readScanned<T>(reply: Reply, read: (field: string, value: string) => T): Batch<T> {
  const [next, found] = reply as unknown as readonly [string, readonly string[]]
  const items: T[] = []
  for (let at = 0; at < found.length; at += 2) items.push(read(found[at] as string, found[at + 1] as string))
  return { items, next: nextOf(next) }
}

const nextOf = (cursor: string): string | undefined => (cursor === '0' ? undefined : cursor)
