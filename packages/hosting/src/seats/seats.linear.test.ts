import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test, vi } from 'vitest'
import { ReportBody } from '../records/server-reports.js'
import { Seats } from './index.js'

test('a report of a thousand players on a listed server is processed in linear time', () => {
  const listing = (teams: number, players: number) => {
    const each = players / teams
    return ReportBody.parse({
      instance: 'one',
      seq: 1,
      listing: {
        name: 'world',
        seats: players,
        teams: Object.fromEntries(Array.from({ length: teams }, (_, nth) => [`team ${teams} ${nth}`, each])),
        players: Object.fromEntries(Array.from({ length: players }, (_, nth) => [`p${nth}`, 'in'])),
      },
    }).listing
  }
  const seats = new Seats({
    clock: createManualClock(),
    random: seededRandom(1),
    holdMs: 30_000,
    maxHoldMs: 300_000,
    server: () => ({ build: undefined, isOpen: true }),
    changed: () => {},
    unused: () => {},
  })
  const walks = vi.spyOn(Map.prototype, 'values')
  try {
    // The first report lists new teams, the second one moves all players to teams that no longer exist.
    for (const teams of [10, 20]) seats.listed('s', listing(teams, 1000), 'one')
    expect(walks.mock.calls.length).toBeLessThan(100)
  } finally {
    walks.mockRestore()
  }
  const read = seats.read('s')
  expect(read?.counts).toMatchObject({ total: 1000, free: 0, taken: 1000 })
  expect(read?.teams.every(({ total, free }) => total === 50 && free === 0)).toBe(true)
})
