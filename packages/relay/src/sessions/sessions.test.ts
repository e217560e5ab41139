import { NotFound } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { RelayClosed, RelayNotDeleted } from '../errors.js'
import { createFakeService } from '../fake-service.fixture.js'
import type { ListedSession } from './orphans.js'
import { dora, failing, players, setUp } from './sessions.fixture.js'
import { createRelaySessions } from './sessions.js'

describe('deleting forgotten sessions', () => {
  test('a relay session without keep-alives is deleted after 10 minutes, and any session after 4 hours', async () => {
    const { clock, service, sessions, within } = setUp()
    const idle = await within(sessions.open({ players }))
    const used = await within(sessions.open({ players }))
    for (let minutes = 0; minutes < 11; minutes += 1) {
      await clock.advance(60_000)
      sessions.keepAlive(used.id)
    }
    expect(service.open).toEqual([used.id])
    expect(() => sessions.keepAlive(idle.id)).toThrow(NotFound)
    for (let minutes = 11; minutes < 241; minutes += 1) {
      await clock.advance(60_000)
      if (service.open.length > 0) sessions.keepAlive(used.id)
    }
    expect(service.open).toEqual([])
    await clock.advance(60_000)
    expect(clock.sleepers).toBe(0)
  })

  test('a failed delete of a relay session is repeated until it succeeds', async () => {
    const { clock, service, sessions, within } = setUp({
      faults: [{ operation: 'delete', fault: 'request lost', times: 3 }],
    })
    const { id } = await within(sessions.open({ players }))
    const failed: string[] = []
    sessions.events.on('deleteFailed', ({ sessionId }) => failed.push(sessionId))
    await expect(sessions.delete(id)).rejects.toThrow('the connection broke')
    expect(() => sessions.credentialsFor(id, 'ann')).toThrow(NotFound)
    await clock.advance(60_000)
    expect(failed).toEqual([id, id, id])
    expect(service.open).toEqual([])
  })

  test('reapOrphans finds sessions of a dead process by their owner tag, and leaves those of others', async () => {
    const { clock, service, sessions, within } = setUp()
    const mine = await within(sessions.open({ players, label: 'lobby.1' }))
    const other = createRelaySessions({ client: service, clock, owner: 'someone-else' })
    const theirs = await within(other.open({ players }))
    const restarted = createRelaySessions({ client: service, clock })
    const listed: ListedSession[] = []
    for await (const session of restarted.list()) listed.push(session)
    expect(listed).toEqual([
      { id: mine.id, ready: true, users: 3, owned: true, label: 'lobby.1', known: false, own: false },
      { id: theirs.id, ready: true, users: 3, owned: false, label: undefined, known: false, own: false },
    ])
    const nothing = { deleted: [], left: [] }
    expect(await restarted.reapOrphans()).toEqual(nothing)
    await clock.advance(119_000)
    expect(await restarted.reapOrphans()).toEqual(nothing)
    await clock.advance(1000)
    expect(await restarted.reapOrphans({ isOwned: ({ label }) => label === 'lobby.1' })).toEqual(nothing)
    await restarted.reapOrphans()
    expect(await within(restarted.reapOrphans({ graceMs: 0 }))).toEqual({ deleted: [mine.id], left: [] })
    expect(service.open).toEqual([theirs.id])
    await within(Promise.all([other.close(), sessions.close()]))
  })

  test('reapOrphans leaves a relay session that is being opened', async () => {
    const { clock, service, sessions, within } = setUp()
    const opening = sessions.open({ players })
    await clock.advance(500)
    expect(service.open).toHaveLength(1)
    expect(await within(sessions.reapOrphans({ graceMs: 0 }))).toEqual({ deleted: [], left: [] })
    await within(opening)
  })

  test('close deletes all relay sessions, even while one is being opened', async () => {
    const { clock, service, sessions, within } = setUp({
      faults: [
        { operation: 'delete', fault: 'request lost', times: 2 },
        { operation: 'create', fault: 'carried out late', times: 1 },
      ],
    })
    const doubtful = failing(sessions.open({ players }))
    await clock.advance(1100)
    await within(sessions.create({ players }))
    const waiting = failing(sessions.open({ players }))
    await clock.advance(100)
    await within(sessions.close())
    expect(await waiting).toBeInstanceOf(RelayClosed)
    expect(await doubtful).toBeInstanceOf(RelayClosed)
    expect(service.open).toEqual([])
    await clock.advance(5000) // time for the service's own timers
    expect(clock.sleepers).toBe(0)
    await expect(sessions.open({ players })).rejects.toBeInstanceOf(RelayClosed)
    await sessions.close()
  })

  test('close reports a relay session whose deletion the service did not confirm', async () => {
    const { sessions, within } = setUp({ faults: [{ operation: 'delete', fault: 'request lost' }] })
    const { id } = await within(sessions.open({ players }))
    const error = await within(failing(sessions.close({ timeoutMs: 5000 })))
    expect(error).toBeInstanceOf(RelayNotDeleted)
    expect((error as RelayNotDeleted).sessionIds).toEqual([id])
  })
})

test('a relay session can be handed over from one process to another', async () => {
  const { clock, service, sessions, within } = setUp()
  const session = await within(sessions.open({ players }))
  sessions.release(session.id)
  await expect(sessions.get(session.id)).rejects.toBeInstanceOf(NotFound)
  await sessions.close()
  expect(service.open).toEqual([session.id])
  const other = createRelaySessions({ client: service, clock })
  other.adopt(structuredClone(session))
  expect(other.credentialsFor(session.id, 'ann')).toMatchObject({ role: 'host', port: 4001 })
  await within(other.authorize(session.id, dora))
  await within(other.close())
  expect(service.open).toEqual([])
})

test('a relay session that is being deleted cannot be released', async () => {
  const { clock, service, sessions, within } = setUp({
    faults: [{ operation: 'delete', fault: 'request lost', times: 1 }],
  })
  const { id } = await within(sessions.open({ players }))
  await failing(sessions.delete(id))
  sessions.release(id)
  await clock.advance(10_000)
  expect(service.open).toEqual([])
})

test.each([
  [{ client: {} as never }, 'client'],
  [{ owner: 'a/b' }, 'owner'],
  [{ webhookBaseUrl: 'ftp://x' }, 'webhookBaseUrl'],
  [{ webhookBaseUrl: 'https://x.example/?a' }, 'webhookBaseUrl'],
  [{ readyTimeoutMs: 0 }, 'readyTimeoutMs'],
  [{ tickms: 5 } as never, 'tickms'],
])('createRelaySessions refuses a wrong option by name: %j', (options, field) => {
  const service = createFakeService({ clock: createManualClock(), random: seededRandom(1) })
  expect(() => createRelaySessions({ client: service, ...options })).toThrow(
    expect.objectContaining({ name: 'InvalidInput', field }),
  )
})

test('a relay session becomes ready when it is read, and is removed when the service no longer has it', async () => {
  const { clock, service, sessions, within } = setUp()
  const { id } = await within(sessions.create({ players }))
  expect(await sessions.get(id)).toMatchObject({ ready: false })
  await clock.advance(2000)
  expect(await sessions.get(id)).toMatchObject({ ready: true, seats: [{ id: 'ann' }, { id: 'bob' }, { id: 'cleo' }] })
  await service.delete({ session_id: id })
  await expect(sessions.get(id)).rejects.toBeInstanceOf(NotFound)
  expect(() => sessions.keepAlive(id)).toThrow(NotFound)
})

test('a session listener that throws or rejects affects nothing and is reported as a problem', async () => {
  const { service, sessions, within } = setUp()
  sessions.events.on('opened', () => {
    throw new Error('in a listener')
  })
  sessions.events.on('ready', async () => {
    throw new Error('in an async one')
  })
  const problems: unknown[] = []
  sessions.events.on('problem', ({ event, error }) => problems.push(`${event}: ${String(error)}`))
  const session = await within(sessions.open({ players }))
  expect(service.open).toEqual([session.id])
  expect(problems).toEqual(['opened: Error: in a listener', 'ready: Error: in an async one'])
})
