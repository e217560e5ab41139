import { expect, test } from 'vitest'
import { createMeasured, createPings } from './latencies.js'

const boston = { latitude: 42.36, longitude: -71.06 }
const seattle = { latitude: 47.61, longitude: -122.33 }
const coasts = new Map([
  ['Boston', boston],
  ['Seattle', seattle],
  ['Sydney', { latitude: -33.87, longitude: 151.21 }],
])

test('latencies are estimated only from an address whose place is known to within a few kilometres', async () => {
  const counts = { impossible: 0, unknown: 0, estimated: 0 }
  const directory = {
    places: () => coasts,
    view: () => Promise.reject(new Error('is not asked for')),
    failing: () => false,
  }
  const estimatesWith = (accuracyKm: number | undefined) =>
    createMeasured(
      directory,
      () => ({ ...boston, ...(accuracyKm !== undefined && { accuracyKm }) }),
      counts,
    )({
      reported: {},
      ip: '192.0.2.1',
      coordinates: undefined,
      isRead: true,
    })
  expect(await estimatesWith(undefined)).toMatchObject({ Boston: 10 })
  expect(await estimatesWith(100)).toMatchObject({ Boston: 12 })
  expect(await estimatesWith(1000)).toBeUndefined()
  const pingsWith = async (accuracyKm: number, reported: Record<string, number>) => {
    const { pingOf } = await createPings(directory, () => ({ ...seattle, accuracyKm }))({ reported, ip: '192.0.2.1' })
    return pingOf({ place: { ...boston, city: 'Boston' } } as Parameters<typeof pingOf>[0])
  }
  expect(await pingsWith(1000, {})).toBeUndefined()
  expect(await pingsWith(10, {})).toBe(90)
  expect(await pingsWith(10, { Boston: 12 })).toBe(10)
})
