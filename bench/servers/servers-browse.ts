import { createManualClock, seededRandom } from '@muster/core/clock'
import {
  createServerReader,
  type ListChanges,
  type ListedServer,
  type PageChange,
  type ReadQuery,
  readQuery,
} from '@muster/matchmaker/internal'
import { atMost, type Figures } from '../figure.js'

const SERVERS = 10_000
const CITIES = 60
const VIEWERS = 1000
/** Number of servers whose seats change in a second: on each, a player comes or leaves every twenty seconds. */
const CHANGES = 500
const SECONDS = 20
const PAGES = 400
const RUNS = 5

const browser = { attributes: { mode: { type: 'string' as const }, map: { type: 'string' as const } } }
const MODES = ['ctf', 'dm', 'koth']

/**
 * Measures the cost of a search for servers: 20 out of 10,000, filtered by two attributes, seats and build, sorted by
 * ping and seats. Also measures 1,000 viewers of different pages, while the seats of 500 servers change every second.
 */
export async function serversBrowseFigures(): Promise<Figures> {
  const random = seededRandom(3)
  const whole = (below: number) => Math.floor(random() * below)
  const places = Array.from({ length: CITIES }, (_, number) => ({
    number,
    city: `city ${number}`,
    country: 'x',
    latitude: random() * 120 - 60,
    longitude: random() * 360 - 180,
  }))
  const seatsOf = (taken: number) => ({ total: 16, free: 16 - taken, held: 0, taken, away: 0 })
  const servers = Array.from({ length: SERVERS }, (_, nth): ListedServer => ({
    id: `server${nth}`,
    name: `World ${nth}`,
    pool: 'arena',
    build: nth % 10 === 0 ? '4' : '5',
    place: places[whole(CITIES)],
    attributes: { mode: MODES[nth % 3] as string, map: `map ${nth % 20}` },
    isOpen: true,
    hasPassword: false,
    seats: seatsOf(whole(17)),
    teams: [],
  }))
  const pings = () => {
    const rtt = Array.from({ length: CITIES }, () => 10 * (1 + whole(24)))
    return ({ place }: ListedServer) => rtt[place?.number ?? 0]
  }
  const queryFor = (nth: number): ReadQuery => {
    const where = [`mode eq ${MODES[nth % 3]}`, 'build eq 5', 'seats.free ge 2', 'ping lt 120']
    const read = readQuery(browser, { where, sort: 'ping,-seats.taken' })
    if ('message' in read) throw new Error(read.message)
    return read
  }

  const pageMs: number[] = []
  const shares: number[] = []
  let changesSeen = 0
  for (let run = 0; run < RUNS; run += 1) {
    const query = queryFor(0)
    const pingOf = pings()
    const clock = createManualClock()
    let version = 0
    let changed: readonly ListedServer[] = servers
    const read = (): ListChanges => {
      version += 1
      return { epoch: 'one', version, since: 1, isNew: version === 1, servers: changed, gone: [], more: false }
    }
    const reader = createServerReader({
      read,
      browser,
      clock,
      onError: (error) => {
        throw error
      },
    })
    await reader.fresh()
    for (let nth = 0; nth < 50; nth += 1) reader.page(query, pingOf)
    let begun = process.cpuUsage()
    for (let nth = 0; nth < PAGES; nth += 1) reader.page(query, pingOf)
    pageMs.push(spentMs(begun) / PAGES)

    const see = ({ servers: seen }: PageChange) => {
      changesSeen += JSON.stringify(seen).length
    }
    for (let viewer = 0; viewer < VIEWERS; viewer += 1)
      await reader.follow({ key: `viewer ${viewer}`, query: queryFor(viewer), pingOf: pings() }, see)
    let spent = 0
    for (let second = 0; second < SECONDS; second += 1) {
      changed = Array.from({ length: CHANGES }, () => {
        const at = whole(SERVERS)
        const before = servers[at] as ListedServer
        const by = before.seats.taken === 16 || (before.seats.taken > 0 && random() < 0.5) ? -1 : 1
        return (servers[at] = { ...before, seats: seatsOf(before.seats.taken + by) })
      })
      begun = process.cpuUsage()
      await clock.advance(1000)
      await reader.fresh()
      spent += spentMs(begun)
    }
    shares.push((spent / (SECONDS * 1000)) * 100)
  }
  return {
    figures: [
      atMost(`a page of 20 of ${SERVERS.toLocaleString('en')} servers, filtered and sorted: CPU`, pageMs, 0.2, 'ms'),
      atMost(
        `${VIEWERS.toLocaleString('en')} viewers of pages that all differ, ${CHANGES} servers change a second: CPU`,
        shares,
        10,
        '% of a core',
        `${Math.round(changesSeen / RUNS / SECONDS / VIEWERS)} bytes of changes a second for each viewer`,
      ),
    ],
    peers: {},
  }
}

function spentMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}
