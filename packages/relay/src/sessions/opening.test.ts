import { InvalidInput, NotFound, ServerError, Unauthorized } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test, vi } from 'vitest'
import { RelayNotReady } from '../errors.js'
import { dora, failing, players, setUp } from './sessions.fixture.js'
import { createRelaySessions } from './sessions.js'

describe('opening a relay session', () => {
  test('opening a relay session gives each player distinct credentials, and the host the server port', async () => {
    const { service, sessions, within } = setUp()
    const session = await within(sessions.open({ players, hostId: 'bob' }))
    const all = players.map(({ id }) => sessions.credentialsFor(session.id, id))
    expect(all.map(({ role, port }) => [role, port])).toEqual([
      ['client', 4002],
      ['host', 4001],
      ['client', 4002],
    ])
    expect(new Set(all.map(({ userToken }) => userToken)).size).toBe(3)
    for (const { sessionToken, userToken, host } of all) {
      expect(service.isValid(sessionToken, userToken)).toBe(true)
      expect(host).toBe('relay.example')
    }
    expect(sessions.credentialsFor(session.id, 'ann')).toEqual(all[0])
    expect(() => sessions.credentialsFor(session.id, 'eve')).toThrow(NotFound)
  })

  test('opening a relay session sends addresses, filters and a separate webhook to the service', async () => {
    const { clock, service, within } = setUp({ faults: [{ operation: 'create', fault: 'in error', times: 1 }] })
    const seen: Parameters<typeof service.create>[0][] = []
    const spied = { ...service, create: (input: (typeof seen)[0]) => (seen.push(input), service.create(input)) }
    const sessions = createRelaySessions({ client: spied, clock })
    const filters = [{ field: 'country', values: ['Norway'], filter_type: 'any' }]
    await within(sessions.open({ players, filters, label: 'mine' }))
    const users = [{ ip: '192.0.2.1' }, { ip: '192.0.2.1' }, { ip: '2001:db8::1' }]
    const webhook_url = expect.stringContaining('/muster/mine/')
    expect(seen).toEqual([
      { users, filters, webhook_url },
      { users, filters, webhook_url },
    ])
    expect(new Set(seen.map((input) => input.webhook_url)).size).toBe(2)
  })

  test('opening a relay session reads it after 1 s, then at intervals that grow by half up to 5 s', async () => {
    const { clock, service, sessions, within } = setUp({
      faults: [{ operation: 'create', fault: 'never ready', times: 1 }],
    })
    const { id } = await within(sessions.create({ players }))
    const began = clock.now()
    const reads: number[] = []
    const waiting = failing(sessions.awaitReady(id))
    for (let seen = 0; clock.now() < began + 45_000; await clock.next()) {
      if (service.calls.get > seen) reads.push(clock.now() - began)
      seen = service.calls.get
    }
    expect(reads.slice(0, 6)).toEqual([1000, 2500, 4750, 8125, 13_125, 18_125])
    await within(waiting)
  })

  test('opening a relay session deletes a session that is not ready after 45 s, and tries once more', async () => {
    const { clock, service, sessions, within } = setUp({
      faults: [{ operation: 'create', fault: 'never ready', times: 1 }],
    })
    const began = clock.now()
    const session = await within(sessions.open({ players }))
    expect(session.id).toBe('session-2')
    expect(clock.now() - began).toBeGreaterThanOrEqual(47_000)
    expect(service.open).toEqual(['session-2'])
  })

  test.each([
    ['never ready', 'not ready in time', 90_000],
    ['without tokens', 'without relay or tokens', 90_000],
    ['too few users', 'without relay or tokens', 90_000],
    ['in error', 'in error', 5000],
  ] as const)('opening a relay session fails after two sessions with the fault “%s”', async (fault, reason, ms) => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault }] })
    const began = clock.now()
    const error = await within(failing(sessions.open({ players })))
    expect(error).toBeInstanceOf(RelayNotReady)
    expect((error as RelayNotReady).reason).toBe(reason)
    expect(clock.now() - began).toBeLessThanOrEqual(ms)
    expect(service.opened).toBe(2)
    expect(service.open).toEqual([])
  })

  test.each([
    ['response lost', 1], // it is found, and no other is made
    ['server error', 1],
    ['request lost', 1],
    ['carried out late', 2],
  ] as const)('opening a relay session gives one session after the create fault “%s”', async (fault, opened) => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault, times: 1 }] })
    const session = await within(sessions.open({ players }))
    await clock.advance(60_000)
    expect(service.open).toEqual([session.id])
    expect(service.opened).toBe(opened)
  })

  test('opening a relay session does not repeat a refused create', async () => {
    const { service, sessions } = setUp()
    const refusing = createRelaySessions({
      client: { ...service, create: () => Promise.reject(new Unauthorized('no')) },
      clock: createManualClock(),
    })
    await expect(refusing.open({ players })).rejects.toBeInstanceOf(Unauthorized)
    expect(service.calls.create).toBe(0)
    await sessions.close()
  })

  test('opening a relay session continues after failed reads', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'get', fault: 'request lost', times: 2 }] })
    expect((await within(sessions.open({ players }))).id).toBe('session-1')
  })

  test('opening a relay session can be aborted during the create or the wait, leaving nothing behind', async () => {
    const { clock, service, sessions, within } = setUp()
    for (const ms of [0, 1500]) {
      const leaving = new AbortController()
      const opening = failing(sessions.open({ players }, { signal: leaving.signal }))
      if (ms > 0) await clock.advance(ms)
      leaving.abort(new Error('gone'))
      expect(String(await within(opening))).toBe('Error: gone')
      await clock.advance(1)
      expect(service.open).toEqual([])
    }
    expect(service.opened).toBe(2)
  })

  test('the second session of an aborted awaitReady is deleted, because its id is unknown to the caller', async () => {
    const { clock, service, sessions, within } = setUp({ faults: [{ operation: 'create', fault: 'never ready' }] })
    const { id } = await within(sessions.create({ players }))
    const leaving = new AbortController()
    const waiting = failing(sessions.awaitReady(id, { signal: leaving.signal }))
    await clock.advance(60_000)
    expect(service.open).toEqual(['session-2'])
    leaving.abort(new Error('gone'))
    expect(String(await within(waiting))).toBe('Error: gone')
    expect(service.open).toEqual([])
  })

  test.each([
    ['players', { players: [] }],
    ['players.0.ip', { players: [{ id: 'a', ip: 'localhost' }] }],
    ['players.1.id', { players: [dora, dora] }],
    ['hostId', { players: [dora], hostId: 'ann' }],
    ['label', { players: [dora], label: 'a/b' }],
  ])('opening a relay session refuses a wrong %s, and shows no address: %j', async (field, input) => {
    const error = await failing(setUp().sessions.open(input))
    expect(error).toBeInstanceOf(InvalidInput)
    expect((error as InvalidInput).field).toBe(field)
    expect(String(error)).not.toContain('192.0.2.1')
  })
})

test('if an abandoned relay session cannot be deleted, other abandoned sessions are still deleted', async () => {
  const { clock, service, sessions, within } = setUp({
    faults: [{ operation: 'create', fault: 'carried out late', times: 2 }],
  })
  const wanted = await within(Promise.all([sessions.open({ players }), sessions.open({ players: [dora] })]))
  const usable = wanted.map(({ id }) => id)
  const inDoubt = () => service.open.filter((id) => !usable.includes(id))
  const remove = service.delete.bind(service)
  let stuck: string | undefined
  const removing = vi.spyOn(service, 'delete').mockImplementation(async (input, options) => {
    if ((stuck ??= input.session_id) === input.session_id) throw new ServerError('it fails', { status: 500 })
    return remove(input, options)
  })
  await clock.advance(60_000)
  expect(inDoubt()).toEqual([stuck])
  await clock.advance(3_600_000)
  removing.mockRestore()
  await clock.advance(60_000)
  expect(inDoubt()).toEqual([])
  await within(sessions.close())
})
