import { defineScript, type Reply } from '../../connection/script.js'

export interface ListedPage {
  readonly json: readonly string[]
  /** Number to go on from; empty at the end. */
  readonly next: string
}

/**
 * Lists lobbies that have all traits and enough free slots, newest first: it looks at those that have the rarest trait.
 * Keys: traits, listing, body.
 * Arguments: number of the lobby before (all 9 for the first page), most lobbies of the page, most to look at, free
 * slots, traits.
 * Answer: the number to go on from, or an empty text at the end; then lobbies as JSON.
 */
export const LIST = defineScript({
  name: 'lobbies.list',
  kind: 'read',
  lua: `
local after, most, looks, least = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local rarest, fewest
for i = 5, #ARGV do
  local count = redis.call('ZLEXCOUNT', KEYS[1], '[' .. ARGV[i] .. '\\n', '[' .. ARGV[i] .. '\\n:')
  if not fewest or count < fewest then rarest, fewest = ARGV[i], count end
end
local from, to = '(' .. rarest .. '\\n' .. after, '[' .. rarest .. '\\n'
local places = redis.call('ZREVRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, looks)
local page, last = {''}, ''
for i = 1, #places do
  local number, id = string.match(string.sub(places[i], #rarest + 2), '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(.*)$')
  local text, json = redis.call('HGET', KEYS[2], id), redis.call('HGET', KEYS[3], id)
  -- Either may be missing only where Redis deletes keys against our advice.
  text = text and json and text .. '\\n' or '-1\\n'
  local fits = tonumber(string.match(text, '^-?%d+')) >= least
  for k = 5, #ARGV do fits = fits and string.find(text, '\\n' .. ARGV[k] .. '\\n', 1, true) ~= nil end
  if fits and #page > most then
    page[1] = last
    return page
  end
  if fits then page[#page + 1] = json end
  last = number
end
if #places == looks then page[1] = last end
return page
`,
  read: (reply: Reply): ListedPage => {
    const [next = '', ...json] = reply as readonly string[]
    return { next, json }
  },
})
