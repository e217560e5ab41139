import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createBeaconDirectory } from './beacons.js'

test('beacons are fetched again after a fetch that is never answered', async () => {
  const clock = createManualClock()
  const errors: unknown[] = []
  let fetches = 0
  const oslo = { host: 'oslo.example.com', location: { city: 'Oslo', latitude: 59.9, longitude: 10.7 } }
  const source = () => {
    fetches += 1
    return fetches === 1 ? new Promise<never>(() => {}) : Promise.resolve([oslo] as never)
  }
  const beacons = createBeaconDirectory(source, clock, (error) => errors.push(error))
  expect(await clock.until(Promise.resolve(beacons.known()))).toBeUndefined()
  await clock.advance(60_000)
  expect([beacons.failing(), errors.length]).toEqual([true, 1])
  expect((await clock.until(Promise.resolve(beacons.known())))?.places.get('Oslo')).toBeDefined()
  expect(fetches).toBe(2)
})
