import { defineScript, type Reply } from '../../connection/index.js'
import type { CancelOutcome, TicketCreateOutcome, NewTicket, PlayerTickets, StoredTicket } from './store.js'
import { FREE, MANY, NOW } from './lua.js'

/** Builds a ticket from its two stored strings: `value` is `<createdAt> <body>`, and `header` is its state. */
export function storedTicket(id: string, value: string, header: string | null): StoredTicket {
  const end = value.indexOf(' ')
  return { id, createdAt: Number(value.slice(0, end)), body: value.slice(end + 1), header: header ?? undefined }
}

/**
 * KEYS: bodies, players, inbox, headers.
 * ARGV: maximum number of tickets, maximum number of inbox entries, number of tickets, 1 to create all or none.
 * Then for each ticket: id, body, number of players, their ids, and for each player the permitted entry, empty for
 * none.
 *
 * The script reads everything first, decides ticket by ticket, and then writes everything.
 */
export const createScript = defineScript({
  name: 'partition.create',
  lua: `
${NOW}
${MANY}
local most, kept, n, together = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
local ids, places, players, at = {}, {}, {}, 5
for i = 1, n do
  local size = tonumber(ARGV[at + 2])
  ids[i], places[i] = ARGV[at], at
  for k = 1, size do players[#players + 1] = ARGV[at + 2 + k] end
  at = at + 3 + 2 * size
end
local known, entries = {}, {}
for i, value in ipairs(get(KEYS[1], ids, 1, n)) do known[ids[i]] = value end
for k, entry in ipairs(get(KEYS[2], players, 1, #players)) do entries[players[k]] = entry end

local stamp, count = now(), redis.call('HLEN', KEYS[1])
local outcomes, made, bodies, seats = {}, {}, {}, {}
for i = 1, n do
  local id, place = ids[i], places[i]
  local size, busy = tonumber(ARGV[place + 2]), {}
  for k = 1, size do
    local entry = entries[ARGV[place + 2 + k]]
    if entry and entry ~= ARGV[place + 2 + size + k] then
      busy[#busy + 1] = k - 1
      busy[#busy + 1] = entry
    end
  end
  if known[id] then
    outcomes[i] = {'exists', known[id], redis.call('HGET', KEYS[4], id)}
  elseif #busy > 0 then
    outcomes[i] = {'busy', busy}
  elseif count >= most then
    outcomes[i] = {'full'}
  else
    count = count + 1
    known[id] = stamp .. ' ' .. ARGV[place + 1]
    made[#made + 1] = id
    bodies[2 * #made - 1], bodies[2 * #made] = id, known[id]
    for k = 1, size do
      local player = ARGV[place + 2 + k]
      entries[player] = entries[player] and entries[player] .. ' ' .. id or id
      seats[#seats + 1] = player
      seats[#seats + 1] = entries[player]
    end
    outcomes[i] = {'created'}
  end
end
if together and #made < n then
  for i = 1, n do if outcomes[i][1] == 'created' then outcomes[i] = {'withheld'} end end
elseif #made > 0 then
  -- Only this write may still fail, if the key has another type. So it comes first.
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', kept, '*', '+', table.concat(made, ' '))
  many('HSET', KEYS[1], bodies, 1, #bodies)
  many('HSET', KEYS[2], seats, 1, #seats)
end
return {stamp, outcomes}
`,
  read: (reply) => reply,
})

export function createWords(
  tickets: readonly NewTicket[],
  { maxTickets, inboxEntries }: { readonly maxTickets: number; readonly inboxEntries: number },
  isTogether = false,
): (string | number)[] {
  const words: (string | number)[] = [maxTickets, inboxEntries, tickets.length, isTogether ? 1 : 0]
  for (const { id, body, players, permitted } of tickets)
    words.push(id, body, players.length, ...players, ...players.map((one) => permitted?.get(one)?.join(' ') ?? ''))
  return words
}

type EachOutcome =
  | readonly ['exists', body: string, header: string | null]
  | readonly ['busy', entries: readonly (string | number)[]]
  | readonly ['full' | 'withheld' | 'created']

export function readCreated(reply: Reply, tickets: readonly NewTicket[]): TicketCreateOutcome[] {
  const [stamp, outcomes] = reply as unknown as readonly [string, readonly EachOutcome[]]
  return outcomes.map((outcome, index): TicketCreateOutcome => {
    const { id, players } = tickets[index] as NewTicket
    switch (outcome[0]) {
      case 'exists':
        return { kind: 'exists', ticket: storedTicket(id, outcome[1], outcome[2]) }
      case 'busy':
        return { kind: 'busy', players: busyPlayers(players, outcome[1]) }
      case 'created':
        return { kind: 'created', createdAt: Number(stamp) }
      default:
        return { kind: outcome[0] }
    }
  })
}

/**
 * Returns the busy players of a ticket. @param entries alternating: the index of a player, and the ids of the player's
 * tickets.
 */
function busyPlayers(players: readonly string[], entries: readonly (string | number)[]): PlayerTickets[] {
  const busy: PlayerTickets[] = []
  for (let at = 0; at < entries.length; at += 2) {
    busy.push({ playerId: players[entries[at] as number] as string, ticketIds: (entries[at + 1] as string).split(' ') })
  }
  return busy
}

/**
 * KEYS: headers, bodies, players, locks, inbox, changes, ended. ARGV: maximum number of entries of the inbox and of
 * changes, the id, the player who cancels (or nothing), the players. Reply: whether it is cancelled, and the header;
 * nothing for an unknown ticket.
 */
export const cancelScript = defineScript({
  name: 'partition.cancel',
  lua: `
${NOW}
${MANY}
${FREE}
local id = ARGV[3]
local header = redis.call('HGET', KEYS[1], id)
if not header then
  if redis.call('HEXISTS', KEYS[2], id) == 0 then return false end
  header = 'S1'
end
local letter, version, match, json = string.match(header, '^(%a)(%d+) ?([^\\n]*)\\n?(.*)$')
if letter == 'C' then return {1, header} end
if letter == 'A' then return {0, header} end
if letter == 'M' then
  local locked = redis.call('HGET', KEYS[4], match)
  if locked and string.find(' ' .. locked .. ' ', ' ' .. id .. ' ', 1, true) then return {0, header} end
end

local stamp, next = now(), version + 1
local rest = string.find(json, '":', 1, true) and string.sub(json, 1, -2) .. ',' or '{'
header = 'C' .. next .. (match == '' and '' or ' ' .. match) .. '\\n'
  .. rest .. '"cancelledAt":' .. stamp .. ',"cancelReason":"cancelled"}'
local who = letter == 'M' and ARGV[4] ~= '' and ' ' .. ARGV[4] or ''
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ARGV[1], '*', '-', id .. who)
redis.call('XADD', KEYS[6], 'MAXLEN', '~', ARGV[2], '*', 'c', id .. ' C' .. next)
redis.call('RPUSH', KEYS[7], stamp .. ' ' .. id)
redis.call('HSET', KEYS[1], id, header)
free(KEYS[3], id, 5, #ARGV)
return {1, header}
`,
  kind: 'write-if-full',
  read: readCancelled,
})

function readCancelled(reply: Reply): CancelOutcome {
  if (reply === null) return { kind: 'unknown' }
  const [isCancelled, header] = reply as readonly [number, string]
  return { kind: isCancelled === 1 ? 'cancelled' : 'late', header }
}

/**
 * Posts an RPC request, even while Redis is full, because reports of left players and stops of matches free memory.
 * KEYS: inbox. ARGV: maximum number of entries, the RPC request.
 */
export const askScript = defineScript({
  name: 'partition.ask',
  lua: `
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '?', ARGV[2])
return 1
`,
  kind: 'write-if-full',
  read: () => {},
})
