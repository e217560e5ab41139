// pure: the script of a commit
import { FENCE, FREE, MANY, NOW } from './lua.js'

/**
 * KEYS: epoch, headers, bodies, players, records, locks, backfills, changes, ended, assignments, notes, answers to each
 * follower.
 * ARGV: the token and the most entries of changes, then what `commitWords` says, part by part; `at` is the next word.
 * Answer: 1, or the refused and the unmet.
 */
export const COMMIT = `
${FENCE}
${NOW}
${MANY}
${FREE}
local at = 3
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

-- Records: number; match and text of each, those with requirements first; number of these; of each a mode and its
-- tickets, space between. The mode is l to lock, r not to; L and R if the headers above are as required.
local writes = takeNumber()
local first, unmet, isUnmet = at, {}, {}
at = at + 2 * writes
local requirements = takeNumber()
if requirements > 0 then
  local flat, owner, count = {}, {}, 0
  for q = 1, requirements do
    local text = ARGV[at + q - 1]
    if #refused > 0 or byte(text) > 90 then
      for id in gmatch(text, ' (%S+)') do
        count = count + 1
        flat[count], owner[count] = id, q
      end
    end
  end
  local headers, line, lineOf = get(KEYS[2], flat, 1, count), nil, 0
  for i = 1, count do
    local q = owner[i]
    if q ~= lineOf then line, lineOf = ' ' .. ARGV[first + 2 * q - 2] .. '\\n', q end
    if not isIn(headers[i], line, false) then
      isUnmet[q] = isUnmet[q] or {}
      table.insert(isUnmet[q], flat[i])
    end
  end
  local locks, unlocked, count = {}, {}, 0
  for q = 1, requirements do
    local mode, id = ARGV[at + q - 1], ARGV[first + 2 * q - 2]
    local lock = (byte(mode) == 108 or byte(mode) == 76) and string.sub(mode, 3) or ''
    if isUnmet[q] then
      -- What is there already was met when it was written.
      local isThere = redis.call('HGET', KEYS[5], id) == ARGV[first + 2 * q - 1]
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
    if not isUnmet[w] then redis.call('HSET', KEYS[5], ARGV[first + 2 * w - 2], ARGV[first + 2 * w - 1]) end
  end
end

-- Matches that are over: number; the matches; of each how many tickets end; number of these; their ids; of each how
-- many players; number of these; the players.
local over = takeNumber()
if over > 0 then
  local counts = at + over
  local tickets = tonumber(ARGV[counts + over])
  local ids, sizes = counts + over, counts + over + tickets
  local players = sizes + tickets + 1
  local headers = get(KEYS[2], ARGV, ids + 1, ids + tickets)
  local entries = get(KEYS[4], ARGV, players + 1, players + ARGV[players])
  local ticket, player, gone, count = 0, players, {}, 0
  for i = 0, over - 1 do
    local id = ARGV[at + i]
    local isFirst, line = redis.call('HDEL', KEYS[5], id) == 1, ' ' .. id .. '\\n'
    for _ = 1, ARGV[counts + i] do
      ticket = ticket + 1
      local id, size = ARGV[ids + ticket], tonumber(ARGV[sizes + ticket])
      if isFirst and isIn(headers[ticket], line, true) then
        ended[#ended + 1] = id
        if size == 1 and entries[player - players + 1] == id then
          count = count + 1
          gone[count] = ARGV[player + 1]
        else
          free(KEYS[4], id, player + 1, player + size)
        end
      end
      player = player + size
    end
    if isFirst then ended[#ended + 1] = '=' .. id end
  end
  many('HDEL', KEYS[4], gone, 1, count)
  many('HDEL', KEYS[6], ARGV, at, at + over - 1)
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

-- Followers that are answered: number; of each the most entries, for how many milliseconds these are kept, number of
-- answers, these.
for i = 1, takeNumber() do
  local key, most, ms = KEYS[11 + i], take(), take()
  for _ = 1, takeNumber() do redis.call('XADD', key, 'MAXLEN', '~', most, '*', 'a', take()) end
  redis.call('PEXPIRE', key, ms)
end

if #ended > 0 then redis.call('RPUSH', KEYS[9], now() .. ' ' .. table.concat(ended, ' ')) end
if #refused == 0 and #unmet == 0 then return 1 end
return {refused, unmet}
`
