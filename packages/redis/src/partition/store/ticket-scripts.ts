import { defineScript, type Reply } from '../../connection/index.js'
import type { CancelOutcome, CreateOutcome, NewTicket, PlayerTickets, StoredTicket } from './store.js'
import { FREE, MANY, NOW } from './lua.js'

/** A ticket of its two values: `<createdAt> <body>`, and its header. */
export function storedTicket(id: string, value: string, header: string | null): StoredTicket {
  const end = value.indexOf(' ')
  return { id, createdAt: Number(value.slice(0, end)), body: value.slice(end + 1), header: header ?? undefined }
}

/**
 * KEYS: bodies, players, inbox, headers.
 * ARGV: most tickets, most entries of the inbox, number of tickets, number of players, mode; the ids; the bodies;
 * unless the mode is `single`, how many players each has; the players; in modes `each` and `together`, for each player
 * the entry that is permitted, empty for none.
 *
 * Usually nothing is in the way, and everything is written by a few commands. Otherwise, and in mode `each`, each
 * ticket is looked at by itself. In mode `together` all are looked at first, and written only if all can be.
 */
const CREATE_LUA = `
${NOW}
${MANY}
local most, kept, n, np, mode = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local ids, bodies, counts = 5, 5 + n, 5 + 2 * n
local players = mode == 'single' and counts or counts + n
local permitted = players + np
local stamp = now()
local together = mode == 'together'
local isEach = mode == 'each' or together

local function isClear()
  if isEach or redis.call('HLEN', KEYS[1]) + n > most then return false end
  local known = get(KEYS[1], ARGV, ids + 1, ids + n)
  for i = 1, n do if known[i] then return false end end
  local entries = get(KEYS[2], ARGV, players + 1, players + np)
  for i = 1, np do if entries[i] then return false end end
  return true
end

if isClear() then
  -- Of the writes only this one may still fail, if the key is of another type.
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', kept, '*', '+', table.concat(ARGV, ' ', ids + 1, ids + n))
  local prefix, written, entries, player = stamp .. ' ', {}, {}, 0
  for i = 1, n do
    local id = ARGV[ids + i]
    written[2 * i - 1] = id
    written[2 * i] = prefix .. ARGV[bodies + i]
    for _ = 1, mode == 'single' and 1 or ARGV[counts + i] do
      player = player + 1
      entries[2 * player - 1] = ARGV[players + player]
      entries[2 * player] = id
    end
  end
  many('HSET', KEYS[1], written, 1, 2 * n)
  many('HSET', KEYS[2], entries, 1, 2 * np)
  return stamp
end

local outcomes, made, player, planned = {}, {}, players, {}
local function write(i, first, entries)
  local id = ARGV[ids + i]
  redis.call('HSET', KEYS[1], id, stamp .. ' ' .. ARGV[bodies + i])
  for k = 1, #entries do
    redis.call('HSET', KEYS[2], ARGV[first + k - 1], entries[k] and entries[k] .. ' ' .. id or id)
  end
  made[#made + 1] = id
  outcomes[i] = {'created'}
end
for i = 1, n do
  local id, first = ARGV[ids + i], player + 1
  player = player + (mode == 'single' and 1 or ARGV[counts + i])
  local known = redis.call('HGET', KEYS[1], id)
  local entries, busy = {}, {}
  if not known then
    entries = get(KEYS[2], ARGV, first, player)
    for k = 1, #entries do
      local allowed = isEach and ARGV[permitted + first - players + k - 1] or ''
      if entries[k] and entries[k] ~= allowed then
        busy[#busy + 1] = k - 1
        busy[#busy + 1] = entries[k]
      end
    end
  end
  if known then
    outcomes[i] = {'exists', known, redis.call('HGET', KEYS[4], id)}
  elseif #busy > 0 then
    outcomes[i] = {'busy', busy}
  elseif redis.call('HLEN', KEYS[1]) + #planned >= most then
    outcomes[i] = {'full'}
  elseif together then
    planned[#planned + 1] = {i, first, entries}
    outcomes[i] = {'withheld'}
  else
    write(i, first, entries)
  end
end
if together and #planned == n then
  for i = 1, n do write(planned[i][1], planned[i][2], planned[i][3]) end
end
if #made > 0 then redis.call('XADD', KEYS[3], 'MAXLEN', '~', kept, '*', '+', table.concat(made, ' ')) end
return {stamp, outcomes}
`

export const createScript = defineScript({ name: 'partition.create', lua: CREATE_LUA, read: (reply) => reply })

interface CreateLimits {
  readonly maxTickets: number
  readonly inboxEntries: number
}

export function createWords(
  tickets: readonly NewTicket[],
  { maxTickets, inboxEntries }: CreateLimits,
  isTogether = false,
): (string | number)[] {
  const players = tickets.flatMap((ticket) => ticket.players)
  const mode = isTogether ? 'together' : modeOf(tickets)
  const words: (string | number)[] = [maxTickets, inboxEntries, tickets.length, players.length, mode]
  for (const { id } of tickets) words.push(id)
  for (const { body } of tickets) words.push(body)
  if (mode !== 'single') for (const ticket of tickets) words.push(ticket.players.length)
  for (const playerId of players) words.push(playerId)
  if (mode !== 'each' && mode !== 'together') return words
  for (const ticket of tickets) for (const id of ticket.players) words.push(ticket.permitted?.get(id)?.join(' ') ?? '')
  return words
}

function modeOf(tickets: readonly NewTicket[]): 'single' | 'parties' | 'each' {
  if (tickets.some(({ permitted }) => permitted !== undefined) || hasRepeats(tickets)) return 'each'
  return tickets.every(({ players }) => players.length === 1) ? 'single' : 'parties'
}

/** Whether two of the tickets have the same id, or a player in common. */
function hasRepeats(tickets: readonly NewTicket[]): boolean {
  const ids = new Set<string>()
  const players = new Set<string>()
  let count = 0
  for (const ticket of tickets) {
    ids.add(ticket.id)
    for (const playerId of ticket.players) players.add(playerId)
    count += ticket.players.length
  }
  return ids.size < tickets.length || players.size < count
}

type EachOutcome =
  | readonly ['exists', body: string, header: string | null]
  | readonly ['busy', entries: readonly (string | number)[]]
  | readonly ['full']
  | readonly ['withheld']
  | readonly ['created']

export function readCreated(reply: Reply, tickets: readonly NewTicket[]): CreateOutcome[] {
  if (typeof reply === 'string') return tickets.map(() => ({ kind: 'created', createdAt: Number(reply) }))
  const [stamp, outcomes] = reply as unknown as readonly [string, readonly EachOutcome[]]
  return outcomes.map((outcome, index): CreateOutcome => {
    const { id, players } = tickets[index] as NewTicket
    switch (outcome[0]) {
      case 'exists':
        return { kind: 'exists', ticket: storedTicket(id, outcome[1], outcome[2]) }
      case 'busy':
        return { kind: 'busy', players: busyPlayers(players, outcome[1]) }
      case 'full':
        return { kind: 'full' }
      case 'withheld':
        return { kind: 'withheld' }
      case 'created':
        return { kind: 'created', createdAt: Number(stamp) }
    }
  })
}

/** @param entries in turns, the number of a player and the ids of the player's tickets. */
function busyPlayers(players: readonly string[], entries: readonly (string | number)[]): PlayerTickets[] {
  const busy: PlayerTickets[] = []
  for (let at = 0; at < entries.length; at += 2) {
    busy.push({ playerId: players[entries[at] as number] as string, ticketIds: (entries[at + 1] as string).split(' ') })
  }
  return busy
}

/**
 * KEYS: headers, bodies, players, locks, inbox, changes, ended.
 * ARGV: most entries of the inbox and of changes, the id, the player who cancels it (or nothing), the players.
 * Answer: whether it is cancelled, and the header; nothing for an unknown ticket.
 */
const CANCEL_LUA = `
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
`

export const cancelScript = defineScript({
  name: 'partition.cancel',
  lua: CANCEL_LUA,
  kind: 'write-if-full',
  read: readCancelled,
})

function readCancelled(reply: Reply): CancelOutcome {
  if (reply === null) return { kind: 'unknown' }
  const [isCancelled, header] = reply as readonly [number, string]
  return { kind: isCancelled === 1 ? 'cancelled' : 'late', header }
}

/** KEYS: inbox. ARGV: most entries, the RPC request. */
const ASK_LUA = `
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', '?', ARGV[2])
return 1
`

/**
 * Posts an RPC request also while Redis is full: that players have left, or that a match is to be stopped, makes room.
 */
export const askScript = defineScript({ name: 'partition.ask', lua: ASK_LUA, kind: 'write-if-full', read: () => {} })
