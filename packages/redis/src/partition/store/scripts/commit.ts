import { defineScript, type Reply } from '../../../connection/script.js'
import { readPrefix } from '../header.js'
import type { Commit, CommitOutcome, RecordChange } from '../store.js'
import { FENCE, FREE, MANY, NOW } from './lua.js'

/**
 * KEYS: epoch, headers, bodies, players, records, backfills, changes, ended.
 * ARGV: token; most entries of changes; number of headers, of headers with effects, of departures, of records, of
 * backfills; the ids; the headers; their prefixes; for each header with effects its number, whether it ends the ticket,
 * how many players it frees, and these; for each departure id, number of players, and these; for each record what
 * `recordWords` says; for each backfill '1', id and text, or '0' and id.
 *
 * What was decided is read from ARGV by \`at\`, in that order. Answer: 1, or the refused and the unmet.
 */
const LUA = `
${FENCE}
${NOW}
${MANY}
${FREE}
local n, effects, departures, records, backfills =
  tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local at = 8
local function take()
  at = at + 1
  return ARGV[at - 1]
end

-- Headers. \`present\` holds those of this commit as they are in the end, false where there is none.
local present, refused, isChanged, written, changes = {}, {}, {}, {}, {}
if n > 0 then
  local heads, prefixes = 7 + n, 7 + 2 * n
  local before = get(KEYS[2], ARGV, 8, 7 + n)
  for i = 1, n do
    local id, old, new, prefix = ARGV[7 + i], before[i], ARGV[heads + i], ARGV[prefixes + i]
    local isMet = old == new
    if not isMet then
      if old then
        isMet = string.byte(old) ~= 67
          and tonumber(string.match(old, '^%a(%d+)')) < tonumber(string.sub(prefix, 2))
      else
        isMet = prefix ~= 'S1' and redis.call('HEXISTS', KEYS[3], id) == 1
      end
      if isMet then
        isChanged[i] = true
        written[#written + 1] = id
        written[#written + 1] = new
      end
    end
    if isMet then
      present[id] = new
      changes[#changes + 1] = id .. ' ' .. prefix
    else
      present[id] = old
      refused[#refused + 1] = {id, old}
    end
  end
  if #changes > 0 then
    redis.call('XADD', KEYS[7], 'MAXLEN', '~', ARGV[2], '*', 'c', table.concat(changes, '\\n'))
  end
  many('HSET', KEYS[2], written, 1, #written)
  at = at + 3 * n
end

local ended = {}
for _ = 1, effects do
  local i, ends, players = tonumber(take()), take(), tonumber(take())
  local id = ARGV[7 + i]
  if present[id] == ARGV[7 + n + i] then
    if isChanged[i] and ends == '1' then ended[#ended + 1] = id end
    free(KEYS[4], id, at, at + players - 1)
  end
  at = at + players
end

for _ = 1, departures do
  local id, players = take(), tonumber(take())
  free(KEYS[4], id, at, at + players - 1)
  at = at + players
end

-- Records. A ticket is in the match if the first line of its header says so.
local unmet = {}
local function headersOf(from, to)
  local found, missing = {}, {}
  for i = from, to do
    if present[ARGV[i]] == nil then missing[#missing + 1] = ARGV[i] end
  end
  local read = get(KEYS[2], missing, 1, #missing)
  for i = 1, #missing do present[missing[i]] = read[i] end
  for i = from, to do found[i - from + 1] = present[ARGV[i]] end
  return found
end
local function isIn(header, line, letters)
  local first = header and string.find(header, line, 1, true)
  return first and first < string.find(header, '\\n', 1, true)
    and string.find(letters, string.sub(header, 1, 1), 1, true)
end

for _ = 1, records do
  local kind, match = take(), take()
  local line = ' ' .. match .. '\\n'
  if kind == 'write' then
    local text = take()
    local old = redis.call('HGET', KEYS[5], match)
    redis.call('HSET', KEYS[5], match, (old and string.match(old, '^[^\\n]*') or '') .. '\\n' .. text)
  elseif kind == 'require' or kind == 'lock' then
    local text, required = take(), tonumber(take())
    local value = (kind == 'lock' and table.concat(ARGV, ' ', at, at + required - 1) or '') .. '\\n' .. text
    local missing = {}
    for k, header in ipairs(headersOf(at, at + required - 1)) do
      if not isIn(header, line, 'MA') then missing[#missing + 1] = ARGV[at + k - 1] end
    end
    -- What is there already was met when it was written.
    if #missing > 0 and redis.call('HGET', KEYS[5], match) ~= value then
      unmet[#unmet + 1] = {match, missing}
    else
      redis.call('HSET', KEYS[5], match, value)
    end
    at = at + required
  else
    local ends, isFirst = tonumber(take()), redis.call('HDEL', KEYS[5], match) == 1
    for _ = 1, ends do
      local id, players = take(), tonumber(take())
      if isFirst and isIn(headersOf(at - 2, at - 2)[1], line, 'A') then
        ended[#ended + 1] = id
        free(KEYS[4], id, at, at + players - 1)
      end
      at = at + players
    end
  end
end

for _ = 1, backfills do
  if take() == '1' then
    local id = take()
    redis.call('HSET', KEYS[6], id, take())
  else
    redis.call('HDEL', KEYS[6], take())
  end
end

if #ended > 0 then redis.call('RPUSH', KEYS[8], now() .. ' ' .. table.concat(ended, ' ')) end
if #refused == 0 and #unmet == 0 then return 1 end
return {refused, unmet}
`

export const commitScript = defineScript({
  name: 'partition.commit',
  lua: LUA,
  kind: 'write-if-full',
  read: readCommitted,
})

type Words = (string | number)[]

/** @param token the first word of every script that is fenced. */
export function commitWords(token: string, commit: Commit, changeEntries: number): Words {
  const { headers = [], left = [], records = [], backfills = [] } = commit
  const prefixes = headers.map(({ header }) => prefixOf(header))
  const effects: Words = []
  let withEffects = 0
  for (const [index, { ended = prefixes[index]?.[0] === 'C', frees = [] }] of headers.entries()) {
    if (!ended && frees.length === 0) continue
    withEffects += 1
    effects.push(index + 1, ended ? 1 : 0, frees.length, ...frees)
  }
  const words: Words = [
    token,
    changeEntries,
    headers.length,
    withEffects,
    left.length,
    records.length,
    backfills.length,
  ]
  for (const { ticketId } of headers) words.push(ticketId)
  for (const { header } of headers) words.push(header)
  for (const prefix of prefixes) words.push(prefix)
  for (const word of effects) words.push(word)
  for (const { ticketId, players } of left) words.push(ticketId, players.length, ...players)
  for (const record of records) recordWords(record, words)
  for (const { backfillId, text } of backfills) {
    if (text === undefined) words.push(0, backfillId)
    else words.push(1, backfillId, text)
  }
  return words
}

/** `<letter><version>` of a header. */
function prefixOf(header: string): string {
  const { letter, version } = readPrefix(header)
  return `${letter}${version}`
}

/**
 * `write`, match, text; `require` or `lock`, match, text, number of tickets, these; `delete`, match, number, tickets.
 */
function recordWords(change: RecordChange, words: Words): void {
  const { matchId } = change
  if (change.text === undefined) {
    const { ends = [] } = change
    words.push('delete', matchId, ends.length)
    for (const { ticketId, players } of ends) words.push(ticketId, players.length, ...players)
  } else if (change.requires === undefined) {
    words.push('write', matchId, change.text)
  } else {
    words.push(
      change.locks === true ? 'lock' : 'require',
      matchId,
      change.text,
      change.requires.length,
      ...change.requires,
    )
  }
}

function readCommitted(reply: Reply): CommitOutcome {
  if (reply === 1) return { refused: [], unmet: [] }
  const [refused, unmet] = reply as unknown as readonly [
    readonly (readonly [string, string | null])[],
    readonly (readonly [string, readonly string[]])[],
  ]
  return {
    refused: refused.map(([ticketId, header]) => ({ ticketId, header: header ?? undefined })),
    unmet: unmet.map(([matchId, ticketIds]) => ({ matchId, ticketIds })),
  }
}
