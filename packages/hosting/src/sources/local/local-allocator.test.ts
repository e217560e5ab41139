/** Servers as processes of this machine, which outlive the process that started them. */
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidInput, NoCapacity, SendAborted } from '@muster/core'
import { createManualClock, type ManualClock, systemClock } from '@muster/core/clock'
import { expect, onTestFinished, test, vi } from 'vitest'
import { assertPosix, isAlive } from './detached-process.js'
import { drawPort } from './free-port.js'
import { openLocalWorld } from './local-world.fixture.js'
import { createLocalAllocator, type LocalAllocator, type LocalAllocatorOptions } from './local-allocator.js'

const call = { timeoutMs: 5000 }
const wanted = (id: string, environment: Readonly<Record<string, string>> = {}) => ({
  id,
  application: 'game',
  version: '1.4',
  places: [],
  environment,
})

async function openWorld(clock: ManualClock = createManualClock()) {
  const world = await openLocalWorld(clock)
  onTestFinished(world.close)
  return { ...world, clock }
}

/** A server that runs this text in place of a game. */
async function openScript(script: string, options: Partial<LocalAllocatorOptions> = {}) {
  const world = await openWorld()
  const allocator = world.open({ command: ['/bin/sh', '-c', script, '{application}-{version}'], ...options })
  onTestFinished(() => allocator.stop('a', call))
  return { ...world, allocator }
}
const written = (allocator: LocalAllocator) => allocator.logs?.('a', call) ?? Promise.resolve('')
const statusOf = async (allocator: LocalAllocator, id = 'a') => (await allocator.poll([id], call))[0]
const untilOver = (allocator: LocalAllocator) =>
  vi.waitUntil(async () => (await statusOf(allocator))?.status !== 'ready', { timeout: 10_000, interval: 5 })

test('a process gets its variables, its ports and its build, and no other variable of this process', async () => {
  vi.stubEnv('MUSTER_TOKEN', 'a secret of Muster')
  onTestFinished(() => void vi.unstubAllEnvs())
  const ports = { game: 'UDP', 'web-socket': 'WS' }
  const { allocator } = await openScript('echo "$0"; env', { ports })
  await allocator.allocate(wanted('a', { MUSTER_SERVER_TOKEN: 'its token' }), call)
  await untilOver(allocator)
  const text = await written(allocator)
  expect(text).toMatch(/^game-1\.4\n/)
  const variables = Object.fromEntries(text.split('\n').map((line) => line.split('=')))
  expect(variables).toMatchObject({
    MUSTER_SERVER_TOKEN: 'its token',
    SERVICE_REQUEST_ID: 'a',
    SERVICE_PORT_GAME_PROTOCOL: 'UDP',
    SERVICE_PORT_WEB_SOCKET_PROTOCOL: 'WS',
    PATH: process.env['PATH'],
  })
  const given = ['GAME', 'WEB_SOCKET'].map((name) => Number(variables[`SERVICE_PORT_${name}_INTERNAL`]))
  expect(new Set(given).size).toBe(2)
  for (const port of given) expect(port >= 20_000 && port <= 29_999).toBe(true)
  expect(text).not.toContain('a secret of Muster')
})

test('a ready server is at its host and ports, which a later process knows too', async () => {
  const { open } = await openWorld()
  const [first, second] = [open({ host: 'lan.example.com' }), open({ host: 'lan.example.com' })]
  await first.allocate(wanted('a'), call)
  const one = await statusOf(first)
  expect(one).toEqual({
    id: 'a',
    status: 'ready',
    host: 'lan.example.com',
    ports: { game: { port: expect.any(Number) as number, protocol: 'UDP' } },
  })
  expect(await statusOf(second)).toEqual(one)
})

test('a port that somebody listens at is not drawn', async () => {
  const socket = createSocket('udp4')
  const port = await new Promise<number>((resolve) => socket.bind(0, () => resolve(socket.address().port)))
  onTestFinished(() => void socket.close())
  const range = { from: port, to: port + 1 }
  expect(await drawPort(range, new Set(), () => 0).catch(() => 0)).not.toBe(port)
  await expect(drawPort({ from: port, to: port }, new Set(), () => 0)).rejects.toThrow(NoCapacity)
  await expect(drawPort({ from: 1, to: 2 }, new Set([1, 2]), () => 0)).rejects.toThrow('no port from 1 to 2 is free')
})

test('no more servers run than may, and one that has ended makes room', async () => {
  const { open, end, running } = await openWorld()
  const allocator = open({ max: 2 })
  await Promise.all(['a', 'b'].map((id) => allocator.allocate(wanted(id), call)))
  await expect(allocator.allocate(wanted('c'), call)).rejects.toThrow(NoCapacity)
  await end('a', 'failed')
  await allocator.allocate(wanted('c'), call)
  await expect(open({ max: 2 }).allocate(wanted('d'), call)).rejects.toThrow(NoCapacity)
  await vi.waitUntil(() => running().length === 2)
  expect(running().toSorted()).toEqual(['b', 'c'])
})

test.each([
  ['exit 0', { status: 'ended' }],
  ['echo "no map" >&2; exit 3', { status: 'failed', detail: 'exit code 3' }],
  ['exec /nowhere/game', { status: 'failed', detail: 'exit code 127' }],
  ['kill -9 $PPID', { status: 'failed', detail: 'was killed' }],
])('the end of a process is seen: %s', async (script, said) => {
  const { allocator } = await openScript(script)
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  expect(await statusOf(allocator)).toEqual({ id: 'a', ...said })
  await expect(allocator.allocate(wanted('a'), call)).rejects.toThrow('id: "a" has ended')
})

test('a folder that is not there is a failed server, and its output says so', async () => {
  const { allocator } = await openScript('exit 0', { folder: '/nowhere/at/all' })
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  expect(await statusOf(allocator)).toMatchObject({ status: 'failed' })
  expect(await written(allocator)).toContain('/nowhere/at/all')
})

test('what a process has started ends with it', async () => {
  const { allocator, state } = await openScript('sleep 3600 & echo $!; sleep 0.2')
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  await expect.poll(() => isHeld(state), { timeout: 5000, interval: 5 }).toBe(false)
})
const isHeld = (state: string) => isAlive(join(state, 'a'))

test('a stop is SIGTERM, and SIGKILL once the grace is over', async () => {
  const { allocator, state } = await openScript('trap "echo asked" TERM; echo up; while :; do sleep 0.01; done', {
    // Of the manual clock: some 300 looks of a millisecond.
    graceMs: 15_000,
  })
  await allocator.allocate(wanted('a'), call)
  await vi.waitUntil(async () => (await written(allocator)).includes('up'))
  await allocator.stop('a', call)
  expect(await isHeld(state)).toBe(false)
  expect(await written(allocator)).toContain('asked')
  await allocator.stop('a', call)
})

test('the output that is kept is bounded, and ends with what came last', async () => {
  const script = 'n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); echo "line $n"; done; sleep 3600'
  const { allocator, state } = await openScript(script, { outputLimit: 1000 })
  await allocator.allocate(wanted('a'), call)
  await vi.waitUntil(
    async () => {
      await allocator.poll(['a'], call)
      return (await written(allocator)).endsWith('line 3000\n')
    },
    { timeout: 10_000, interval: 5 },
  )
  await allocator.poll(['a'], call)
  const sizes = ['output', 'output.1'].map((name) => statSync(join(state, 'a', name)).size)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1000)
})

test('two processes that start one id at once start one server', async () => {
  const { open, running } = await openWorld()
  for (let round = 0; round < 10; round += 1) {
    const id = `r${round}`
    await Promise.all([open(), open(), open()].map((one) => one.allocate(wanted(id), call)))
    await vi.waitUntil(() => running().includes(id))
  }
  expect(new Set(running()).size).toBe(running().length)
})

test('a later process ends what it is not asked about within a minute, and nothing else', async () => {
  const { open, clock, running } = await openWorld()
  const first = open()
  for (const id of ['known', 'forgotten']) await first.allocate(wanted(id), call)
  await vi.waitUntil(() => running().length === 2)
  const second = open()
  await second.poll(['known'], call)
  await second.allocate(wanted('own'), call)
  await clock.advance(59_000)
  await second.poll(['known'], call)
  await systemClock.sleep(20)
  expect((await second.poll(['forgotten'], call))[0]).toMatchObject({ status: 'ready' })

  const third = open()
  await third.poll(['known', 'own'], call)
  await clock.advance(60_000)
  await third.poll([], call)
  await vi.waitUntil(() => !running().includes('forgotten'), { timeout: 5000, interval: 5 })
  expect(running().toSorted()).toEqual(['known', 'own'])
})

test('what ended a day ago is removed at the next start, and what runs never', async () => {
  const { open, clock, state } = await openWorld()
  const allocator = open({ clock: { ...clockOf(clock), wallStepMs: () => Date.now() - clock.now() } })
  await allocator.allocate(wanted('lives'), call)
  await allocator.stop('over', call)
  const later = open({ clock: { ...clockOf(clock), wallStepMs: () => Date.now() - clock.now() + 86_500_000 } })
  await later.allocate(wanted('next'), call)
  expect(readdirSync(state).toSorted()).toEqual(['lives', 'next'])
})
const clockOf = (clock: ManualClock) => ({
  now: () => clock.now(),
  sleep: (ms: number, signal?: AbortSignal) => (ms < 100 ? systemClock.sleep(1, signal) : clock.sleep(ms, signal)),
})

test('an id that was stopped first is never started, and a start that may not write starts nothing', async () => {
  const { open, running, state } = await openWorld()
  const allocator = open()
  await allocator.stop('early', call)
  await expect(allocator.allocate(wanted('early'), call)).rejects.toThrow(InvalidInput)
  await expect(allocator.allocate(wanted('late'), { ...call, mayWrite: () => false })).rejects.toThrow(SendAborted)
  expect([running(), existsSync(join(state, 'late'))]).toEqual([[], false])
  for (const id of ['../x', 'A', '', 'x'.repeat(41)]) {
    await expect(allocator.allocate(wanted(id), call)).rejects.toThrow('id: must be up to 40 of')
    await expect(allocator.stop(id, call)).rejects.toThrow(InvalidInput)
    expect(await statusOf(allocator, id)).toEqual({ id, status: 'unknown' })
  }
})

test('an allocator that was told so ends its servers when it is closed', async () => {
  for (const endsServers of [false, true]) {
    const { open, up, running } = await openWorld()
    const allocator = open({ endsServers })
    await allocator.allocate(wanted('a'), call)
    await up('a')
    await allocator.close()
    expect(running()).toEqual(endsServers ? [] : ['a'])
  }
})

test('an allocator that only asked ends no server of another process when it is closed', async () => {
  const { open, up, running } = await openWorld()
  await open().allocate(wanted('a'), call)
  await up('a')
  const asking = open({ endsServers: true })
  await asking.poll([], call)
  await asking.close()
  expect(running()).toEqual(['a'])
})

test('a start of which nothing is left but the folder is made good', async () => {
  const { open, up, running, state } = await openWorld()
  // The process before died between the folder and the start.
  await mkdir(join(state, 'a'), { recursive: true })
  const allocator = open()
  expect(await statusOf(allocator)).toEqual({ id: 'a', status: 'unknown' })
  await allocator.allocate(wanted('a'), call)
  await up('a')
  expect(running()).toEqual(['a'])
})

test.each([
  [{ command: [], state: '/tmp/x' }, 'command'],
  [{ command: ['game'], state: 'relative' }, 'state'],
  [{ command: ['game'], state: '/tmp/x', portRange: { from: 2, to: 1 } }, 'portRange'],
  [{ command: ['game'], state: '/tmp/x', max: 0 }, 'max'],
  [{ command: ['game'], state: '/tmp/x', graceMs: 15_001 }, 'graceMs'],
])('options are checked: %j', (options, field) => {
  expect(() => createLocalAllocator(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})

test('on Windows it says that it cannot', () => {
  expect(() => assertPosix('win32')).toThrow(expect.objectContaining({ name: 'InvalidInput', field: 'command' }))
})
