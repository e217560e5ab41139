import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { browserSchema } from './browser-definition.js'
import { createListedServers, type ListedServer } from './listed-servers.js'
import { createServerReader } from './live-pages.js'
import { readQuery } from './server-pages.js'

const server = (id: string): ListedServer => ({
  id,
  name: id,
  pool: 'arena',
  build: '7',
  place: { city: 'Oslo', country: 'Norway', latitude: 59.9, longitude: 10.7 },
  attributes: {},
  isOpen: true,
  hasPassword: false,
  seats: { total: 8, free: 8, held: 0, taken: 0, away: 0 },
  teams: [],
})

test('many followed pages are updated in portions that delay nothing else, and all of them in the end', async () => {
  const manual = createManualClock()
  let workMs = 0
  const clock = { now: () => manual.now() + workMs, sleep: manual.sleep }
  const browser = browserSchema.parse({})
  const listed = createListedServers(server, seededRandom(1))
  listed.touch('s1')
  const failed = (error: unknown) => {
    throw error
  }
  const reader = createServerReader({ read: (known) => listed.changes(known), browser, clock, onError: failed })
  const totals = new Map<string, number>()
  // The update of a page reads the ping of each changed server, which takes 1 ms here.
  const pingOf = () => {
    workMs += 1
    return 20
  }
  const query = readQuery(browser, { where: ['ping le 50'] })
  if ('message' in query) throw new Error(query.message)
  for (let nth = 0; nth < 1000; nth += 1) {
    const key = `page ${nth}`
    await reader.follow({ key, query, pingOf }, ({ total }) => {
      totals.set(key, total)
    })
  }
  listed.touch('s2')
  let longestMs = 0
  let isOver = false
  let turnAt = workMs
  const turns = () => {
    longestMs = Math.max(longestMs, workMs - turnAt)
    turnAt = workMs
    if (!isOver) setImmediate(turns)
  }
  turns()
  for (let seconds = 0; seconds < 10; seconds += 1) {
    await manual.advance(1000)
    for (let nth = 0; nth < 1000; nth += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  isOver = true
  expect(longestMs).toBeLessThan(50)
  expect(new Set(totals.values())).toEqual(new Set([2]))
})
