import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/**
 * A player's id may be `constructor` or `toString`, which every plain object inherits. So data by player id must be in
 * a Map. This pattern matches the names that sources use for a player's id.
 */
const ID = '(?:\\w+\\.)?(?:id|sub|player|playerId|player_id|memberId|member|ownerId|owner|callerId|userId|ticketId)'
const KEYED = new RegExp(`\\w\\[${ID}\\] *(?:\\?\\?=|\\|\\|=|\\+=|-=|=[^=>])`)
const TYPED = /: \w+\[/

/** Uses that are safe: ids that no player chooses, and numbers. */
const OTHERS: Readonly<Record<string, RegExp>> = {
  'packages/core/src/http/openapi.ts': /schemas\[id\]/,
  'packages/emulator/src/http/request-handler.ts': /counters\.requests\[id\]/,
  // Column numbers.
  'packages/kernel/src/teams/seating.ts': /#teamOf\[member\]/,
  // Lua code. Lua tables have no prototype.
  'packages/redis/src/partition/store/ticket-scripts.ts': /(?:known\[id\]|entries\[player\])/,
}

const root = fileURLToPath(new URL('..', import.meta.url))

const faultsIn = (path: string, text: string): string[] =>
  text
    .split('\n')
    .map((line, index) => ({ line, place: `${path}:${index + 1}` }))
    .filter(({ line }) => KEYED.test(line) && !TYPED.test(line) && !(OTHERS[path]?.test(line) ?? false))
    .map(({ place }) => place)

test('no source uses a plain object with player ids as keys', async () => {
  const folders = readdirSync(`${root}packages`).map((name) => `packages/${name}/src`)
  const paths = [...folders, 'packages/create-muster/template'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${folder}/${String(name)}`),
  )
  const sources = paths.filter((path) => /(?<!\.test|\.fixture)\.(?:tsx?|js)$/.test(path) && !/node_modules/.test(path))
  expect(sources.length).toBeGreaterThan(400)
  expect(sources.flatMap((path) => faultsIn(path, readFileSync(`${root}${path}`, 'utf8')))).toEqual([])
})

test.each(["statuses[id] ??= 'left'", 'taps[player.id] += 1', 'scores[playerId] = 0', 'seen[claims.sub] ||= true'])(
  'the rule about player ids as keys reports %j',
  (line) => {
    expect(faultsIn('packages/game-server/src/served-match.ts', line)).toHaveLength(1)
  },
)
test.each(['const one = statuses[id]', 'if (known[id] === true)', 'readonly ids: Known[id]', 'pairs[index] = 1'])(
  'the rule about player ids as keys allows %j',
  (line) => {
    expect(faultsIn('a.ts', line)).toEqual([])
  },
)
