import { describe, expect, test } from 'vitest'
import { inVirtualTime } from './client.fixture.js'

describe('cached answers', () => {
  const locations = (request: Request) =>
    Response.json({ locations: [{ city: new URL(request.url).search, host: '192.0.2.1', location: {} }], count: 1 })

  test('locations and beacons are cached for five minutes, separately for each input', async () => {
    const { clock, client, times } = inVirtualTime(async (request) => locations(request))
    const first = await client.locations.list({ tags: true })
    expect(await client.locations.list({ tags: true })).toBe(first)
    expect(Object.isFrozen(first.locations[0])).toBe(true)
    await client.locations.list()
    await client.locations.beacons()
    await client.locations.beacons()
    expect(times).toHaveLength(3)
    await clock.advance(300_001)
    expect(await client.locations.list({ tags: true })).toEqual(first)
    expect(times).toHaveLength(4)
  })

  test('no answer is cached for locations chosen by capacity, for a failure, or with cacheTtlMs 0', async () => {
    const { client, times } = inVirtualTime(async (request) => locations(request))
    for (const chosen of [{ app: 'a' }, { app: 'a' }, { version: 'v' }, { version: 'v' }])
      await client.locations.list(chosen)
    await Promise.all([client.fleets.list(), client.fleets.get({ fleet_name: 'f' })]).catch(() => {})
    await client.fleets.list().catch(() => {})
    expect(times).toHaveLength(7)
    const forgetful = inVirtualTime(async (request) => locations(request), { cacheTtlMs: 0 })
    for (let time = 0; time < 2; time += 1) await forgetful.client.locations.list()
    expect(forgetful.times).toHaveLength(2)
    const failing = inVirtualTime(async (request, nth) =>
      nth === 1 ? new Response('', { status: 400 }) : locations(request),
    )
    await expect(failing.client.locations.list()).rejects.toThrow()
    await failing.client.locations.list()
  })
})
