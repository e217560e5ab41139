/** What becomes of servers, through the whole matchmaker. */
import { NoCapacity, ServerError } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import { createManualClock, type Clock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'
import { createTestService } from '../service.fixture.js'
import type { LocationService } from './records/deployment-service.js'
import { createMemoryJournal, type Journal, type JournalEntry } from './journal/journal.js'

const places: LocationService = {
  list: async () => ({
    locations: [{ latitude: '35.7', longitude: '139.7' }, { latitude: 48.9, longitude: 2.4 }, { city: 'Atlantis' }],
  }),
}
const usersOf = (creates: readonly CreateDeployment[]) => creates.map(({ users }) => users[0]?.user_data)

describe('no capacity', () => {
  /** The first so many creates make a deployment that never had a server. */
  const full = (times: number) => ({
    fault: (method: string, nth: number) =>
      method === 'create' && nth <= times
        ? { error: new NoCapacity('full', { requestId: `r${nth}` }), effect: true }
        : undefined,
    fate: (nth: number) => (nth <= times ? { errorMs: 0 } : { readyMs: 1000 }),
  })
  const cached = { ...duel, deploy: { ...deploy, requireCachedLocations: true } }

  test('in cached places: tries the others, once what was created is stopped, and the tickets do not notice', async () => {
    const { matchmaker, service, seen, join, run } = setUp({ queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(10_000)
    expect(service.calls.create.map(({ require_cached_locations }) => require_cached_locations)).toEqual([
      true,
      undefined,
    ])
    const matchId = seen.matchFound?.[0]?.matchId
    expect(service.calls.create.map(({ tags }) => tags?.[1])).toEqual([`match-${matchId}`, `match-${matchId}-2`])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'HOST_ASSIGNED', attempts: 0, matchId })
    expect(seen.returned).toBeUndefined()
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'no-capacity' }])
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('anywhere near: tries the places that have some, the nearest first, then the tickets return', async () => {
    const { matchmaker, service, seen, run } = setUp({ locations: places, service: full(3) })
    matchmaker.createTicket({
      id: 'pair',
      queue: 'duel',
      players: [
        { id: 'ann', coordinates: { latitude: 50, longitude: 3 } },
        { id: 'ben', coordinates: { latitude: 50, longitude: 3 } },
      ],
    })
    await run(6000)
    expect(usersOf(service.calls.create.slice(0, 3))).toEqual([
      { latitude: 50, longitude: 3 },
      { latitude: 48.9, longitude: 2.4 },
      { latitude: 35.7, longitude: 139.7 },
    ])
    expect(seen.returned).toMatchObject([{ reason: 'no-capacity', ticket: { attempts: 1 } }])
    await run(10_000)
    expect(matchmaker.getTicket('pair')?.status).toBe('HOST_ASSIGNED')
    expect(service.unstopped()).toEqual(['r4'])
  })

  test('and the places cannot be asked for: the tickets return', async () => {
    const broken: LocationService = { list: () => Promise.reject(new ServerError('down')) }
    const { seen, join, run } = setUp({ locations: broken, service: full(1) })
    join('ann', 'ben')
    await run(2000)
    expect(seen.problem?.map(({ during }) => during)).toEqual(['create', 'list'])
    expect(seen.returned).toMatchObject([{ reason: 'no-capacity' }])
  })

  test('and what was created cannot be stopped: the tickets do not wait for that for ever, it is stopped later', async () => {
    const { service, seen, join, run } = setUp({
      queues: [cached],
      service: {
        ...full(1),
        fault: (method, nth) =>
          method === 'stop' && nth < 6 ? { error: new ServerError('down') } : full(1).fault(method, nth),
      },
    })
    join('ann', 'ben')
    await run(12_000)
    expect(seen.returned).toMatchObject([{ reason: 'no-capacity' }])
    await run(40_000)
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('and a ticket is cancelled meanwhile: nothing more is created', async () => {
    const { matchmaker, service, join, run } = setUp({ queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(250)
    matchmaker.cancelTicket('ann-ben')
    await run(10_000)
    expect(service.calls.create).toHaveLength(1)
    expect(matchmaker.inspect().matches).toEqual([])
  })

  test('and the process ends between two tries: the journal knows of the last one', async () => {
    const journal = createMemoryJournal()
    const { service, join, run } = setUp({ journal, queues: [cached], service: full(1) })
    join('ann', 'ben')
    await run(750)
    const [open] = await journal.open()
    expect(service.calls.create).toHaveLength(2)
    expect(open).toMatchObject({ tag: expect.stringMatching(/-2$/) as string, requestId: 'r2' })
  })
})

describe('a match ends', () => {
  test('after its longest duration', async () => {
    const queues = [{ ...duel, deploy: { ...deploy, maxDurationMs: 20_000 } }]
    const { matchmaker, service, seen, join, run } = setUp({ queues })
    join('ann', 'ben')
    await run(24_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(3000)
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'max-duration' }])
    expect(matchmaker.inspect().matches).toEqual([])
  })

  /** A clock that is wrong by as much. */
  const wrong = (clock: Clock, byMs: number): Clock => ({
    ...clock,
    now: () => clock.now() + byMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  })
  const DAY_MS = 25 * 3_600_000

  test.each([
    ['both clocks are right', 0, 0],
    ['the clock of that one was slow by a day', -DAY_MS, 0],
    ['the clock of that one was fast by a day', DAY_MS, 0],
    ['the clock of this one is slow by a day', 0, -DAY_MS],
    ['the clock of this one is fast by a day', 0, DAY_MS],
  ])('at the same time if another process began it, and %s', async (_, before, now) => {
    const clock = createManualClock()
    const service = createTestService({ clock })
    const journal = createMemoryJournal()
    const setUpWith = (byMs: number) =>
      setUp({
        journal,
        clock: wrong(clock, byMs),
        deployments: service.deployments,
        queues: [{ ...duel, deploy: { ...deploy, maxDurationMs: 20_000 } }],
      })
    const run = async ({ matchmaker }: ReturnType<typeof setUp>, ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        await matchmaker.tick()
        await clock.advance(250)
      }
    }
    const first = setUpWith(before)
    first.join('ann', 'ben')
    await run(first, 10_000)
    const [open] = await journal.open()
    expect(open).toMatchObject({ assigned: true, playerIds: ['ann', 'ben'], assignment: { fqdn: 'r1.example.com' } })
    const second = setUpWith(now)
    await run(second, 14_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(second, 5000)
    expect(second.seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'max-duration' }])
    expect(service.unstopped()).toEqual([])
  })
})

describe('the journal', () => {
  test('knows that players were sent before they are', async () => {
    const memory = createMemoryJournal()
    let release = () => {}
    const journal: Journal = {
      open: () => memory.open(),
      append: async (entry) => {
        if (entry.kind === 'assigned') await new Promise<void>((resolve) => (release = resolve))
        await memory.append(entry)
      },
    }
    const { run, join, status } = setUp({ journal })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    release()
    await run(250)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('knows that a server is being stopped, so that a restart does not take it for one that is played on', async () => {
    const memory = createMemoryJournal()
    const { matchmaker, service, join, run } = setUp({
      journal: memory,
      service: { fault: (method) => (method === 'stop' ? { error: new ServerError('down') } : undefined) },
    })
    join('ann', 'ben')
    await run(8000)
    void matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '').catch(() => {})
    await run(250)
    expect(await memory.open()).toMatchObject([{ assigned: false, requestId: 'r1' }])
    expect(service.unstopped()).toEqual(['r1'])
  })

  /** A journal on a disk that may be full. */
  const onDisk = () => {
    const memory = createMemoryJournal()
    const disk = { full: false }
    const append = async (entry: JournalEntry): Promise<void> => {
      if (disk.full) throw new Error('no space left')
      await memory.append(entry)
    }
    return { disk, journal: { append, open: () => memory.open() } satisfies Journal }
  }

  test('is full while a server gets READY: players are told when it is written, and a restart leaves them alone', async () => {
    const { disk, journal } = onDisk()
    const { clock, matchmaker, service, seen, run, join, status } = setUp({ journal })
    join('ann', 'ben')
    await run(500)
    disk.full = true
    await run(7500)
    expect(matchmaker.inspect().matches).toMatchObject([{ phase: 'warming', requestId: 'r1' }])
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    expect(matchmaker.inspect().held).toBe('journal')
    expect(seen.problem?.every(({ during }) => during === 'journal')).toBe(true)
    join('cas', 'dee')
    await run(1000)
    expect(matchmaker.explain('cas-dee').summary).toContain('the journal cannot be used')
    disk.full = false
    await run(2000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(status('cas-dee')).toBe('MATCH_FOUND')
    expect(matchmaker.inspect().held).toBeUndefined()
    const later = setUp({ journal, clock, deployments: service.deployments })
    for (let ticks = 0; ticks < 100; ticks++) {
      await later.matchmaker.tick()
      await clock.advance(250)
    }
    expect(service.unstopped()).toContain('r1')
  })

  test('stays full: players do not wait for ever, and nobody is sent to a server that a restart would stop', async () => {
    const { disk, journal } = onDisk()
    const { service, seen, run, join } = setUp({ journal })
    join('ann', 'ben')
    await run(500)
    disk.full = true
    await run(40_000)
    expect(seen.assigned).toBeUndefined()
    expect(seen.returned).toMatchObject([{ reason: 'unavailable', ticket: { attempts: 0 } }])
    expect(service.unstopped()).toEqual([])
    disk.full = false
    await run(15_000)
    expect(seen.assigned).toHaveLength(1)
    expect(await journal.open()).toHaveLength(1)
  })

  test('is closed after its last entry', async () => {
    const entries: (JournalEntry['kind'] | 'close')[] = []
    const memory = createMemoryJournal()
    const journal: Journal = {
      open: () => memory.open(),
      append: async ({ kind }) => void entries.push(kind),
      close: () => void entries.push('close'),
    }
    const { matchmaker, clock, join, run } = setUp({ journal })
    join('ann', 'ben')
    await run(8000)
    await clock.until(matchmaker.close({ stopServers: true }))
    expect(entries).toEqual(['intent', 'sent', 'created', 'assigned', 'dropped', 'settled', 'close'])
  })
})

describe('the reaper', () => {
  test("stops what has our tag and is nobody's, after a grace, and nothing else", async () => {
    const { service, seen, run } = setUp({ reapAfterMs: 60_000 })
    await service.add(['mm-muster', 'match-ofanearlierprocess'])
    await service.add(['mm-other', 'match-x'])
    await run(59_000)
    expect(service.unstopped()).toEqual(['r1', 'r2'])
    await run(35_000)
    expect(seen.deploymentReaped).toEqual([{ requestId: 'r1' }])
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('can be switched off', async () => {
    const { service, run } = setUp({ reapAfterMs: Infinity })
    await service.add(['mm-muster'])
    await run(600_000)
    expect(service.unstopped()).toEqual(['r1'])
  })

  test("takes nothing for nobody's before the journal was read", async () => {
    let readable = false
    const memory = createMemoryJournal()
    const journal: Journal = {
      ...memory,
      open: () => (readable ? memory.open() : Promise.reject(new Error('no disk'))),
    }
    const { clock, service, seen, run } = setUp({ journal, reapAfterMs: 1000 })
    await memory.append({ kind: 'intent', matchId: 'm', queue: 'duel', tag: 'match-m', ticketIds: [], at: clock.now() })
    await service.add(['mm-muster', 'match-m'])
    await memory.append({ kind: 'created', matchId: 'm', requestId: 'r1' })
    await memory.append({ kind: 'assigned', matchId: 'm' })
    await run(40_000)
    readable = true
    await run(40_000)
    expect(seen.deploymentReaped).toBeUndefined()
    expect(service.unstopped()).toEqual(['r1'])
  })

  test('stops at once what shows up after its match was given up', async () => {
    const { service, seen, join, run, matchmaker } = setUp({
      listLagMs: 1000,
      service: { fault: (method, nth) => (method === 'create' && nth === 1 ? {} : undefined) },
    })
    join('ann', 'ben')
    await run(12_000)
    // The service was slower than it promised.
    await service.add(['mm-muster', `match-${seen.matchFound?.[0]?.matchId}`])
    await run(31_000)
    expect(seen.deploymentReaped).toEqual([{ requestId: 'r2' }])
    expect(matchmaker.getTicket('ann-ben')?.assignment?.fqdn ?? 'r1.example.com').toBe('r1.example.com')
    expect(service.unstopped()).toEqual(['r1'])
  })
})

test('what does not fit into the environment is not asked for, and costs no attempt', async () => {
  const hidden = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`V${index}`, 'x'.repeat(4000)]))
  const queues = [{ ...duel, deploy: { ...deploy, hiddenEnvironment: hidden } }]
  const { matchmaker, service, seen, join, run } = setUp({ queues })
  join('ann', 'ben')
  await run(3000)
  expect(service.calls.create).toHaveLength(0)
  expect(seen.problem?.[0]).toMatchObject({ during: 'create', error: { name: 'MatchTooLarge', field: 'environment' } })
  expect(matchmaker.getTicket('ann-ben')).toMatchObject({ status: 'SEARCHING', attempts: 0 })
})

test('creates per minute: the others wait', async () => {
  const { service, join, run } = setUp({ maxCreatesPerMinute: 2 })
  for (const name of ['a', 'b', 'c']) join(`${name}1`, `${name}2`)
  await run(59_000)
  expect(service.calls.create).toHaveLength(2)
  await run(2000)
  expect(service.calls.create).toHaveLength(3)
})

describe('READY is not listening', () => {
  const secretOf = (creates: readonly CreateDeployment[]) =>
    creates[0]?.environment_variables?.find(({ key }) => key === 'MM_REGISTRATION_SECRET')?.value ?? ''

  test('players are sent when the server has warmed up', async () => {
    const { seen, join, run, status } = setUp({ queues: [{ ...duel, deploy: { ...deploy, warmUpMs: 4000 } }] })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    await run(3000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(seen.assigned).toHaveLength(1)
  })

  test('players are sent when the server has registered, with its secret', async () => {
    const probe = { kind: 'registration' } as const
    const { matchmaker, service, join, run, status } = setUp({ queues: [{ ...duel, deploy: { ...deploy, probe } }] })
    join('ann', 'ben')
    await run(10_000)
    const [match] = matchmaker.inspect().matches
    expect(match).toMatchObject({ phase: 'warming' })
    expect(matchmaker.serverReady(match?.matchId ?? '', 'guess')).toBe(false)
    expect(matchmaker.serverReady('nowhere', secretOf(service.calls.create))).toBe(false)
    await run(1000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    expect(matchmaker.serverReady(match?.matchId ?? '', secretOf(service.calls.create))).toBe(true)
    await run(250)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(JSON.stringify(matchmaker.inspect())).not.toContain(secretOf(service.calls.create))
  })

  test('a server that does not register is stopped, and that is an attempt', async () => {
    const probe = { kind: 'registration', withinMs: 3000 } as const
    const { service, seen, join, run } = setUp({ queues: [{ ...duel, deploy: { ...deploy, probe } }] })
    join('ann', 'ben')
    await run(10_000)
    expect(seen.returned).toMatchObject([{ reason: 'not-listening', ticket: { attempts: 1 } }])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'not-listening' }])
    expect(service.unstopped()).not.toContain('r1')
  })

  test('a ticket that is cancelled meanwhile ends the waiting', async () => {
    const { clock, matchmaker, service, join, run } = setUp({
      queues: [{ ...duel, deploy: { ...deploy, warmUpMs: 60_000 } }],
    })
    join('ann', 'ben')
    await run(8000)
    matchmaker.cancelTicket('ann-ben')
    await run(500)
    expect(service.unstopped()).toEqual([])
    await clock.until(matchmaker.close())
    expect(clock.sleepers).toBe(0)
  })
})

test('webhooks: asked for at a path of their own for each match, and taken as hints', async () => {
  const { clock, matchmaker, service, join, run, status } = setUp({
    webhookUrl: 'https://game.example.com/hooks',
    service: { fate: () => ({ readyMs: 20 }) },
  })
  join('ann', 'ben')
  await matchmaker.tick()
  await clock.advance(30)
  const url = service.calls.create[0]?.webhook_on_ready?.url ?? ''
  expect(url).toMatch(/^https:\/\/game\.example\.com\/hooks\/[0-9a-v]{21}\/[0-9a-v]{21}$/)
  expect(status('ann-ben')).toBe('MATCH_FOUND')
  const forged = JSON.stringify({ request_id: 'r1', current_status: 'Status.READY', fqdn: 'evil.example.com' })
  const { status: answered } = await matchmaker.webhook(new Request(url, { method: 'POST', body: forged }))
  expect(answered).toBe(204)
  await clock.advance(0)
  expect(matchmaker.getTicket('ann-ben')).toMatchObject({
    status: 'HOST_ASSIGNED',
    assignment: { fqdn: 'r1.example.com' },
  })
  await run(250)
  expect(service.calls.get).toHaveLength(1)
})
