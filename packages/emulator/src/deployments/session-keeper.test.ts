import { describe, expect, test } from 'vitest'
import type { EmulatorOptions } from '../options.js'
import { studio } from './studio.fixture.js'

const MINUTE = 60_000

/** Creates a deployment of a version with these session settings that is READY now. */
async function ready(settings: object, options: EmulatorOptions = {}) {
  const made = await studio(options, { session_config: { kind: 'Seat', sockets: 10, ...settings } })
  const id = await made.deploy()
  await made.clock.advance(11_000 / (options.speed ?? 1))
  const current = async () => (await made.status(id))['current_status']
  const sessions = async () =>
    ((await made.status(id))['sessions'] as { session_id: string }[]).map((each) => each.session_id)
  const set = (users: Readonly<Record<string, number>>) => made.emulator.setSessions(id, users)
  return { ...made, id, current, sessions, set }
}

describe('empty_ttl', () => {
  test('empty_ttl stops a deployment that has had no session for that many minutes', async () => {
    const { clock, current } = await ready({ empty_ttl: 5 })
    await clock.advance(5 * MINUTE - 1)
    expect(await current()).toBe('Status.READY')
    await clock.advance(1)
    expect(await current()).toBe('Status.TERMINATING')
  })

  test('empty_ttl counts from the end of the last session', async () => {
    const { clock, current, set } = await ready({ empty_ttl: 5 })
    await clock.advance(4 * MINUTE)
    set({ one: 1 })
    await clock.advance(60 * MINUTE)
    expect(await current()).toBe('Status.READY')
    set({})
    await clock.advance(4 * MINUTE)
    // Setting no sessions twice changes nothing.
    set({})
    await clock.advance(MINUTE - 1)
    expect(await current()).toBe('Status.READY')
    await clock.advance(1)
    expect(await current()).toBe('Status.TERMINATING')
  })

  test('empty_ttl passes at the speed of the service', async () => {
    const { clock, current } = await ready({ empty_ttl: 5 }, { speed: 20 })
    await clock.advance((5 * MINUTE) / 20)
    expect(await current()).toBe('Status.TERMINATING')
  })

  test.each([{}, { empty_ttl: 0 }])('empty_ttl of %j never stops a deployment', async (settings) => {
    const { clock, current } = await ready(settings)
    await clock.advance(50 * MINUTE)
    expect(await current()).toBe('Status.READY')
  })
})

describe('session_max_duration', () => {
  test('session_max_duration ends each session after that many minutes', async () => {
    const { clock, sessions, set, status, id } = await ready({ session_max_duration: 10 })
    set({ one: 4 })
    await clock.advance(4 * MINUTE)
    set({ one: 5, two: 2 })
    await clock.advance(6 * MINUTE - 1)
    expect(await sessions()).toEqual(['one', 'two'])
    await clock.advance(1)
    expect(await status(id)).toMatchObject({ sessions: [{ session_id: 'two' }], sockets_usage: '2' })
    await clock.advance(4 * MINUTE)
    expect(await sessions()).toEqual([])
  })

  test('session_max_duration counts again for a session that was removed and added', async () => {
    const { clock, sessions, set } = await ready({ session_max_duration: 10 })
    set({ one: 1 })
    await clock.advance(9 * MINUTE)
    set({})
    set({ one: 1 })
    await clock.advance(9 * MINUTE)
    expect(await sessions()).toEqual(['one'])
    await clock.advance(MINUTE)
    expect(await sessions()).toEqual([])
  })

  test('session_max_duration can leave a deployment empty, which then ends by empty_ttl', async () => {
    const { clock, current, set } = await ready({ session_max_duration: 10, empty_ttl: 5 })
    set({ one: 1 })
    await clock.advance(15 * MINUTE - 1)
    expect(await current()).toBe('Status.READY')
    await clock.advance(1)
    expect(await current()).toBe('Status.TERMINATING')
  })

  test.each([{}, { session_max_duration: 0 }])('session_max_duration of %j never ends a session', async (settings) => {
    const { clock, sessions, set } = await ready(settings)
    set({ one: 1 })
    await clock.advance(50 * MINUTE)
    expect(await sessions()).toEqual(['one'])
  })
})

test('a terminated deployment has no sessions', async () => {
  const { clock, current, id, sessions, set, stop } = await ready({ session_max_duration: 10 })
  set({ one: 3 })
  await stop(id)
  expect(await sessions()).toEqual(['one'])
  await clock.advance(1000)
  expect(await current()).toBe('Status.TERMINATED')
  expect(await sessions()).toEqual([])
})
