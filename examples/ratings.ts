/**
 * Ratings of your own: openskill computes them from each result, and the queue forms teams of which neither is sure to
 * win. The ratings are stored in the backend, and players never state them.
 */
import assert from 'node:assert/strict'
import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, predictedWin, type QueueDefinition, type Ticket } from '@muster/matchmaker'
import { ordinal, rate, rating, type Rating } from 'openskill'

const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 2 }],
  rules: [
    // This rule limits the search: players of very different ratings meet only after waiting.
    { kind: 'difference', attribute: 'mu', max: { from: 5, to: 20, overMs: 30_000 }, optionalAfterMs: 40_000 },
    // This rule forms the teams. The ratings of new players are uncertain, so they may meet a wider range of players.
    {
      kind: 'balance',
      measure: 'predictedWin',
      mean: 'mu',
      uncertainty: 'sigma',
      max: [
        { afterMs: 0, value: 0.6 },
        { afterMs: 15_000, value: 0.75 },
        { afterMs: 30_000, value: 1 },
      ],
    },
  ],
  fillForMs: 0,
  deploy: { application: 'my-game', version: '1.0' },
}

const clock = createManualClock()
const emulator = createEmulator({ clock, limits: false })
const client = createClient({
  baseUrl: 'http://service.invalid',
  token: 'dev',
  clock,
  dispatcher: inProcess(emulator.fetch),
})
await clock.until(client.applications.create({ name: 'my-game' }))
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await clock.until(
  client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports }),
)
const matchmaker = createMatchmaker({ deployments: client.deployments, queues: [ranked], clock, tickMs: 1000 })
matchmaker.start()

/** Your database: the rating of each player, and when it was last updated. */
const ratings = new Map<string, { readonly rating: Rating; readonly at: number }>()
const DAY_MS = 24 * 3600 * 1000
/** Increase of uncertainty (our choice): after a year away, sigma of a known player is about 3 again. */
const DECAY = 0.15

/**
 * Returns a player's present rating. A new player has the default. A rating becomes less certain while its player is
 * away.
 */
function ratingOf(player: string): Rating {
  const known = ratings.get(player)
  if (known === undefined) return rating()
  const { mu, sigma } = known.rating
  const daysAway = (clock.now() - known.at) / DAY_MS
  return { mu, sigma: Math.min(rating().sigma, Math.sqrt(sigma ** 2 + DECAY ** 2 * daysAway)) }
}

/**
 * Returns the attributes that your backend states for a player: when it creates the ticket, or in its response to `POST
 * /profiles`.
 */
const attributesOf = (player: string) => ({ ...ratingOf(player) })

/** Call it with the result that your game server reports: the teams, the winners first. */
function matchOver(teams: readonly (readonly string[])[]): void {
  const rated = rate(teams.map((team) => team.map(ratingOf)))
  for (const [team, players] of teams.entries())
    for (const [index, player] of players.entries())
      ratings.set(player, { rating: rated[team]?.[index] ?? ratingOf(player), at: clock.now() })
}

// Twelve players whose strength is unknown to the ratings.
const random = seededRandom(7)
const names = ['ann', 'ben', 'cas', 'dee', 'eli', 'fay', 'gus', 'hal', 'ivy', 'jan', 'kim', 'lou']
const strengths = new Map(names.map((name, index) => [name, 10 + index * 3]))
const coordinates = { latitude: 50, longitude: 10 }
const performanceOf = (player: string) => (strengths.get(player) ?? 0) + (random() + random() - 1) * 10

let results = 0
const favourites: number[] = []
matchmaker.on(
  'serverAssigned',
  ({ matchId, tickets }: { readonly matchId: string; readonly tickets: readonly Ticket[] }) => {
    const teams = ['team-1', 'team-2'].map((name) =>
      tickets.filter(({ team }) => team === name).flatMap(({ players }) => players.map(({ id }) => id)),
    )
    const [one = [], other = []] = teams.map((team) =>
      team.map(ratingOf).map(({ mu, sigma }) => ({ mean: mu, uncertainty: sigma })),
    )
    const chance = predictedWin(one, other)
    favourites.push(Math.max(chance, 1 - chance))
    const sum = (team: readonly string[]) => team.reduce((total, player) => total + performanceOf(player), 0)
    matchOver(
      teams
        .map((team) => ({ team, sum: sum(team) }))
        .toSorted((a, b) => b.sum - a.sum)
        .map(({ team }) => team),
    )
    results += 1
    void matchmaker.stopMatch(matchId)
  },
)

for (let evening = 0; evening < 30; evening += 1) {
  // Everybody plays each evening, in a random order.
  const order = names.map((name) => ({ name, draw: random() })).toSorted((a, b) => a.draw - b.draw)
  for (const { name } of order) {
    matchmaker.createTicket({ queue: 'ranked', players: [{ id: name, coordinates, attributes: attributesOf(name) }] })
    await clock.advance(1000)
  }
  await clock.advance(60_000)
}

assert.equal(results, 90)
const table = names
  .map((name) => ({ name, ...ratingOf(name), shown: ordinal(ratingOf(name)) }))
  .toSorted((one, other) => other.shown - one.shown)
for (const { name, mu, sigma, shown } of table)
  console.log(`${name}  ${shown.toFixed(1).padStart(5)}  (mu ${mu.toFixed(1)}, sigma ${sigma.toFixed(1)})`)

// The ratings have found the strongest players.
const top = table.slice(0, 4).map(({ name }) => names.indexOf(name))
assert(
  top.every((index) => index >= 6),
  `the best are ${table.slice(0, 4).map(({ name }) => name)}`,
)
assert(table.every(({ sigma }) => sigma < 6))
const late = favourites.slice(-30)
const mean = late.reduce((sum, one) => sum + one, 0) / late.length
console.log(`in the last 30 matches the favourite was predicted to win with ${Math.round(mean * 100)} % on average`)
assert(mean < 0.7)

assert.deepEqual(await clock.until(matchmaker.close({ stopServers: true })), [])
await client.close()
await emulator.close()
