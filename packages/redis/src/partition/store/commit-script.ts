import { InvalidInput } from '@muster/core'
import { cut, defineScript, MOST_WEIGHT, type Reply } from '../../connection/index.js'
import { splitHeader } from './assignments.js'
import { type HeaderPrefix, readPrefix } from './header.js'
import type { Commit, CommitOutcome, HostingChange, HostingTransaction, NewHeader } from './store.js'
import { NUMBER_OF, NUMBERS } from './commit-numbers.js'
import { FENCE, FREE, MANY, NOW } from './lua.js'

export interface StoreBounds {
  /** Maximum number of tickets, including ended ones that are still kept. Default 1,000,000. */
  readonly maxTickets: number
  /** Maximum size of a ticket's body in bytes. Default 262,144. */
  readonly maxBodyBytes: number
  /** Maximum size of an RPC request to the leader in bytes: more than any report. Default 1,310,720. */
  readonly maxAskBytes: number
  /** Approximate number of entries that the leader's inbox keeps for late readers. Default 16,384. */
  readonly inboxEntries: number
  /** Approximate number of changes that are kept for late readers. Default 8192. */
  readonly changeEntries: number
  /** Milliseconds for which entries of the inbox and changes are kept. The newest few always stay. Default 300,000. */
  readonly entryMs: number
  /** Approximate number of replies that are kept for a follower. Default 1024. */
  readonly replyEntries: number
  /** Milliseconds for which replies to a follower are kept. Default 60,000. */
  readonly replyMs: number
}

export const DEFAULT_BOUNDS: StoreBounds = {
  maxTickets: 1_000_000,
  maxBodyBytes: 262_144,
  maxAskBytes: 1_310_720,
  inboxEntries: 16_384,
  changeEntries: 8192,
  entryMs: 300_000,
  replyEntries: 1024,
  replyMs: 60_000,
}

/** Maximum total length of the replies that are kept for a follower. The newest are kept in any case. */
const REPLIES_LENGTH = 16 * 1024 * 1024

/**
 * Returns how many replies to keep, including `texts`: fewer if they are long. A follower that misses a reply retries.
 */
function repliesKept(texts: readonly string[], { replyEntries }: StoreBounds): number {
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 1)
  return Math.min(replyEntries, Math.max(texts.length, Math.floor(REPLIES_LENGTH / longest)))
}

/** Checks the size of a string. @throws {InvalidInput} for more than `mostBytes` bytes */
export function assertWithinBytes(field: string, text: string, mostBytes: number): void {
  // Each UTF-16 unit is at most three bytes.
  if (text.length * 3 <= mostBytes) return
  const bytes = Buffer.byteLength(text)
  if (bytes > mostBytes)
    throw new InvalidInput(`${field}: must have at most ${mostBytes} bytes, got ${bytes}`, { field })
}

/** Additional weight of a ticket with a large party. */
export const partyWeight = (players = 0): number => Math.floor(players / 8)

/**
 * Divides a commit into steps of at most 256 tickets, in this order: notes, headers, players who left, servers and
 * matches, backfills, replies. A transaction is never divided, and may be larger. No record occurs twice in a step.
 * After each step the stored data is consistent. A match result is noted before its match is over. A ticket is matched
 * before its match has a record, and assigned before its match is over.
 */
export function partsOf(commit: Commit): readonly Commit[] {
  const { headers = [], left = [], hosting = [], backfills = [], notes = [], replies = [] } = commit
  const runs = runsOf(hosting)
  if (runs.length <= 1 && sizeOf(commit) <= MOST_WEIGHT) return [commit]
  return [
    ...cut(notes, () => 1).map((part): Commit => ({ notes: part })),
    ...cut(headers, ({ frees }) => 1 + partyWeight(frees?.length)).map((part): Commit => ({ headers: part })),
    ...cut(left, ({ players }) => 1 + partyWeight(players.length)).map((part): Commit => ({ left: part })),
    ...runs.flatMap((run) => cut(run, weightOf)).map((part): Commit => ({ hosting: part })),
    ...cut(backfills, () => 1).map((part): Commit => ({ backfills: part })),
    ...cut(replies, () => 1).map((part): Commit => ({ replies: part })),
  ]
}

/** Divides transactions into runs, in order, so that no record occurs twice in one run. */
function runsOf(hosting: readonly HostingTransaction[]): readonly (readonly HostingTransaction[])[] {
  const runs: HostingTransaction[][] = []
  let keys = new Set<string>()
  for (const transaction of hosting) {
    if (runs.length === 0 || transaction.some(({ key }) => keys.has(key))) {
      runs.push([])
      keys = new Set()
    }
    for (const { key } of transaction) keys.add(key)
    ;(runs.at(-1) as HostingTransaction[]).push(transaction)
  }
  return runs
}

function sizeOf({ headers, left, hosting, backfills, notes, replies }: Commit): number {
  let size = 0
  for (const each of [headers, left, backfills, notes, replies]) size += each?.length ?? 0
  for (const { frees } of headers ?? []) size += partyWeight(frees?.length)
  for (const { players } of left ?? []) size += partyWeight(players.length)
  for (const transaction of hosting ?? []) size += weightOf(transaction)
  return size
}

const weightOf = (transaction: HostingTransaction): number =>
  transaction.reduce((sum, change) => sum + ticketsOf(change), 0)

const ticketsOf = (change: HostingChange): number => {
  if (change.text !== undefined) return 1 + (change.requires?.length ?? 0)
  return 1 + (change.ends?.reduce((sum, { players }) => sum + 1 + partyWeight(players.length), 0) ?? 0)
}

/** Refuses a commit if Redis has lost an earlier one, and otherwise stores the commit's number. */
const COUNTED = `
local number, last = numberOf(KEYS[12], ARGV[1], ARGV[3])
if not number then return redis.error_reply('BEHIND Redis has lost commits of this leader') end
if last and number == 0 then redis.call('HSET', KEYS[12], '${NUMBERS[1]}', last) end
redis.call('HSET', KEYS[12], '${NUMBERS[0]}', string.format('%d %s', math.max(number, ARGV[4]), ARGV[1]))`

/**
 * KEYS: epoch, headers, bodies, players, hosting, locks, backfills, changes, ended, assignments, notes, current queues,
 * replies to each follower. ARGV: the token, the maximum number of changes, the number of the last confirmed commit
 * of this epoch, the number of this commit, then the words of `commitWords`, part by part; `at` is the next word.
 * Reply: 1, or the refused headers and the unmet matches.
 */
export const commitScript = defineScript({
  name: 'partition.commit',
  lua: `
${FENCE}
${NOW}
${MANY}
${FREE}
${NUMBER_OF}
${COUNTED}
local at = 5
local function take()
  at = at + 1
  return ARGV[at - 1]
end
local function takeNumber() return tonumber(take()) end
local byte, match, find, gmatch = string.byte, string.match, string.find, string.gmatch

local function versionOf(header)
  local _, digit, after = byte(header, 1, 3)
  if not after or after < 48 then return digit - 48 end
  return tonumber(match(header, '^%a(%d+)'))
end
-- 65, 67, 77 are A, C, M. Only the first line of a header has a space before a match and a line feed behind it.
local function isIn(header, line, isRunning)
  local letter = header and byte(header)
  return (letter == 65 or not isRunning and letter == 77) and find(header, line, 1, true)
end

-- Headers: number; ids; headers; lines of the entry of changes; number of assignments; match and text of each.
local n = takeNumber()
local ids, heads = at - 1, at - 1 + n
at = at + 2 * n
local refused, isRefused, isRepeated = {}, {}, {}
if n > 0 then
  local before, written, count = get(KEYS[2], ARGV, ids + 1, ids + n), {}, 0
  for i = 1, n do
    local old, new, fits = before[i], ARGV[heads + i], false
    if old == new then
      isRepeated[i] = true
    else
      if old then
        fits = byte(old) ~= 67 and versionOf(old) < versionOf(new)
      else
        fits = versionOf(new) > 1 and redis.call('HEXISTS', KEYS[3], ARGV[ids + i]) == 1
      end
      if fits then
        written[count + 1] = ARGV[ids + i]
        written[count + 2] = new
        count = count + 2
      else
        refused[#refused + 1] = {ARGV[ids + i], old}
        isRefused[ARGV[ids + i]] = true
      end
    end
  end
  local lines = take()
  if #refused > 0 then
    local kept = {}
    for line in gmatch(lines, '[^\\n]+') do if not isRefused[match(line, '^%S+')] then kept[#kept + 1] = line end end
    lines = table.concat(kept, '\\n')
  end
  if lines ~= '' then redis.call('XADD', KEYS[8], 'MAXLEN', '~', ARGV[2], '*', 'c', lines) end
  many('HSET', KEYS[2], written, 1, count)
  local assignments = takeNumber()
  many('HSET', KEYS[10], ARGV, at, at + 2 * assignments - 1)
  at = at + 2 * assignments
end

-- Effects of headers: number; of each its header's number, whether it ends the ticket (0, or 1, or = and its match),
-- number of players to free, these.
local ended = {}
for _ = 1, takeNumber() do
  local i, ends, players = takeNumber(), take(), takeNumber()
  local id = ARGV[ids + i]
  if not isRefused[id] then
    if ends ~= '0' and not isRepeated[i] then
      ended[#ended + 1] = id
      if ends ~= '1' then ended[#ended + 1] = ends end
    end
    free(KEYS[4], id, at, at + players - 1)
  end
  at = at + players
end

-- Players who left: number; of each ticket its id, number of players, these.
for _ = 1, takeNumber() do
  local id, players = take(), takeNumber()
  free(KEYS[4], id, at, at + players - 1)
  at = at + players
end

-- Records: number; key and text of each, those with requirements first; number of these; of each a mode and its
-- tickets, space between. The mode is l to lock, r not to. Then of each other record which of those with requirements
-- it is written with; 0 for none.
local writes = takeNumber()
local first, unmet, isUnmet = at, {}, {}
at = at + 2 * writes
local requirements = takeNumber()
if requirements > 0 then
  local flat, owner, count = {}, {}, 0
  for q = 1, requirements do
    for id in gmatch(ARGV[at + q - 1], ' (%S+)') do
      count = count + 1
      flat[count], owner[count] = id, q
    end
  end
  local headers, line, lineOf = get(KEYS[2], flat, 1, count), nil, 0
  for i = 1, count do
    local q = owner[i]
    if q ~= lineOf then line, lineOf = ' ' .. string.sub(ARGV[first + 2 * q - 2], 3) .. '\\n', q end
    if not isIn(headers[i], line, false) then
      isUnmet[q] = isUnmet[q] or {}
      table.insert(isUnmet[q], flat[i])
    end
  end
  local locks, unlocked, count = {}, {}, 0
  for q = 1, requirements do
    local mode, key = ARGV[at + q - 1], ARGV[first + 2 * q - 2]
    local id = string.sub(key, 3)
    local lock = byte(mode) == 108 and string.sub(mode, 3) or ''
    if isUnmet[q] then
      -- A record that is stored already met its requirements when it was written.
      local isThere = redis.call('HGET', KEYS[5], key) == ARGV[first + 2 * q - 1]
      if isThere and (redis.call('HGET', KEYS[6], id) or '') == lock then
        isUnmet[q] = nil
      else
        unmet[#unmet + 1] = {id, isUnmet[q]}
      end
    end
    if not isUnmet[q] then
      if lock == '' then
        unlocked[#unlocked + 1] = id
      else
        locks[count + 1], locks[count + 2] = id, lock
        count = count + 2
      end
    end
  end
  many('HSET', KEYS[6], locks, 1, count)
  many('HDEL', KEYS[6], unlocked, 1, #unlocked)
  at = at + requirements
end
if #unmet == 0 then
  many('HSET', KEYS[5], ARGV, first, first + 2 * writes - 1)
else
  for w = 1, writes do
    local q = w <= requirements and w or tonumber(ARGV[at + w - requirements - 1])
    if not isUnmet[q] then redis.call('HSET', KEYS[5], ARGV[first + 2 * w - 2], ARGV[first + 2 * w - 1]) end
  end
end
at = at + writes - requirements

-- Records that go: number; their keys; of each how many tickets end; number of these; their ids; of each how many
-- players; number of these; the players. 109 is m: of a match.
local over = takeNumber()
if over > 0 then
  local counts = at + over
  local tickets = tonumber(ARGV[counts + over])
  local ids, sizes = counts + over, counts + over + tickets
  local players = sizes + tickets + 1
  local headers = get(KEYS[2], ARGV, ids + 1, ids + tickets)
  local ticket, player, matches = 0, players, {}
  for i = 0, over - 1 do
    local key = ARGV[at + i]
    local id, isMatch = string.sub(key, 3), byte(key) == 109
    local isFirst, line = redis.call('HDEL', KEYS[5], key) == 1, ' ' .. id .. '\\n'
    if isMatch then matches[#matches + 1] = id end
    for _ = 1, ARGV[counts + i] do
      ticket = ticket + 1
      local id, size = ARGV[ids + ticket], tonumber(ARGV[sizes + ticket])
      if isFirst and isIn(headers[ticket], line, true) then
        ended[#ended + 1] = id
        free(KEYS[4], id, player + 1, player + size)
      end
      player = player + size
    end
    if isFirst and isMatch then ended[#ended + 1] = '=' .. id end
  end
  many('HDEL', KEYS[6], matches, 1, #matches)
  at = player + 1
end

-- Backfills, then notes: number; of each 1, id and text, or 0 and id.
for _, key in ipairs({KEYS[7], KEYS[11]}) do
  for _ = 1, takeNumber() do
    if take() == '1' then
      local id = take()
      redis.call('HSET', key, id, take())
    else
      redis.call('HDEL', key, take())
    end
  end
end

-- Followers that get replies: their number; for each the maximum number of entries, the milliseconds for which these
-- are kept, the number of replies, and the replies.
for i = 1, takeNumber() do
  local key, most, ms = KEYS[12 + i], take(), take()
  for _ = 1, takeNumber() do redis.call('XADD', key, 'MAXLEN', '~', most, '*', 'a', take()) end
  redis.call('PEXPIRE', key, ms)
end

if #ended > 0 then redis.call('RPUSH', KEYS[9], now() .. ' ' .. table.concat(ended, ' ')) end
if #refused == 0 and #unmet == 0 then return 1 end
return {refused, unmet}
`,
  kind: 'write-if-full',
  read: readCommitted,
})

type Words = (string | number)[]

/**
 * Returns the words of one part of a commit (see `partsOf`), in which no record and no ticket occurs twice.
 * @param replies the replies of the part, by follower.
 * @param numbers of the last confirmed commit of this epoch, and of this commit.
 */
export function commitWords(
  token: string,
  commit: Commit,
  replies: ReadonlyMap<string, readonly string[]>,
  bounds: StoreBounds,
  numbers: readonly [done: number, number: number],
): Words {
  const { headers = [], left = [], hosting = [], backfills = [], notes = [] } = commit
  const words: Words = [token, bounds.changeEntries, ...numbers]
  const prefixes = headers.map(({ header }) => readPrefix(header))
  headerWords(headers, prefixes, words)
  words.push(left.length)
  for (const { ticketId, players } of left) words.push(ticketId, players.length, ...players)
  writeWords(hosting, words)
  overWords(hosting.flat().filter(isOver), words)
  words.push(backfills.length)
  for (const { backfillId, text } of backfills) {
    if (text === undefined) words.push(0, backfillId)
    else words.push(1, backfillId, text)
  }
  words.push(notes.length)
  for (const { key, text } of notes) {
    if (text === undefined) words.push(0, key)
    else words.push(1, key, text)
  }
  words.push(replies.size)
  for (const texts of replies.values()) words.push(repliesKept(texts, bounds), bounds.replyMs, texts.length, ...texts)
  return words
}

/** The replies of a commit, by follower. */
export function repliesOf({ replies = [] }: Commit): ReadonlyMap<string, readonly string[]> {
  const byFollower = new Map<string, string[]>()
  for (const { follower, text } of replies) {
    const texts = byFollower.get(follower)
    if (texts === undefined) byFollower.set(follower, [text])
    else texts.push(text)
  }
  return byFollower
}

type WrittenChange = Extract<HostingChange, { readonly text: string }>
type Ended = Exclude<HostingChange, WrittenChange>
const isWritten = (change: HostingChange): change is WrittenChange => change.text !== undefined
const isOver = (change: HostingChange): change is Ended => change.text === undefined
const hasRequirements = ({ requires }: WrittenChange): boolean => requires !== undefined && requires.length > 0

function headerWords(headers: readonly NewHeader[], prefixes: readonly HeaderPrefix[], words: Words): void {
  words.push(headers.length)
  for (const { ticketId } of headers) words.push(ticketId)
  const assignments = new Map<string, string>()
  for (const [index, whole] of headers.entries()) {
    const { header, assignment } = splitHeader(whole.header)
    words.push(header)
    if (assignment !== undefined) assignments.set(prefixes[index]?.matchId ?? '', assignment)
  }
  const lines = prefixes.map(({ letter, version }, index) => `${headers[index]?.ticketId} ${letter}${version}`)
  if (lines.length > 0) words.push(lines.join('\n'), assignments.size)
  for (const [matchId, assignment] of assignments) words.push(matchId, assignment)
  const at = words.push(0) - 1
  let withEffects = 0
  for (const [index, { ended = prefixes[index]?.letter === 'C', frees = [] }] of headers.entries()) {
    if (!ended && frees.length === 0) continue
    withEffects += 1
    words.push(index + 1, ended ? endOf(prefixes[index] as HeaderPrefix) : 0, frees.length, ...frees)
  }
  words[at] = withEffects
}

/** Returns the word for a ticket's end. The assignment of a match is swept with an assigned ticket. */
const endOf = ({ letter, matchId }: HeaderPrefix) => (letter === 'A' && matchId !== undefined ? `=${matchId}` : 1)

function writeWords(hosting: readonly HostingTransaction[], words: Words): void {
  const requiring: WrittenChange[] = []
  const others: WrittenChange[] = []
  /** For each of `others`, the entry of `requiring` (from 1) with which it is written. */
  const withWhich: number[] = []
  for (const transaction of hosting) {
    const written = transaction.filter(isWritten)
    const first = written.find(hasRequirements)
    if (first !== undefined) requiring.push(first)
    for (const change of written) {
      if (change === first) continue
      others.push(change)
      withWhich.push(first === undefined ? 0 : requiring.length)
    }
  }
  words.push(requiring.length + others.length)
  for (const { key, text } of requiring) words.push(key, text)
  for (const { key, text } of others) words.push(key, text)
  words.push(requiring.length)
  for (const { requires = [], locks } of requiring) words.push(`${locks === true ? 'l' : 'r'} ${requires.join(' ')}`)
  words.push(...withWhich)
}

function overWords(over: readonly Ended[], words: Words): void {
  words.push(over.length)
  if (over.length === 0) return
  const ends = over.flatMap((record) => record.ends ?? [])
  const players = ends.flatMap((one) => one.players)
  for (const { key } of over) words.push(key)
  for (const record of over) words.push(record.ends?.length ?? 0)
  words.push(ends.length)
  for (const { ticketId } of ends) words.push(ticketId)
  for (const one of ends) words.push(one.players.length)
  words.push(players.length)
  for (const playerId of players) words.push(playerId)
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
