/** Runs servers as processes on this machine, which outlive the process that started them. */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
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

/** Opens an allocator whose servers run this script instead of a game. */
async function openScript(script: string, options: Partial<LocalAllocatorOptions> = {}) {
  const world = await openWorld()
  const allocator = world.open({ command: ['/bin/sh', '-c', script, '{application}-{version}'], ...options })
  onTestFinished(() => allocator.stop('a', call))
  return { ...world, allocator }
}
const written = (allocator: LocalAllocator) => allocator.logs?.('a', call) ?? Promise.resolve('')
const statusOf = async (allocator: LocalAllocator, id = 'a') => (await allocator.poll([id], call))[0]
const untilOver = (allocator: LocalAllocator) =>
  expect.poll(async () => (await statusOf(allocator))?.status, { interval: 5 }).not.toBe('ready')

test('a launched process gets its variables, ports and build, but no other variable of Muster', async () => {
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

test('a ready local server is reported with host and ports, even by a later Muster process', async () => {
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

test('a local allocator does not assign a port that is in use', async () => {
  const socket = createSocket('udp4')
  const port = await new Promise<number>((resolve) => socket.bind(0, () => resolve(socket.address().port)))
  onTestFinished(() => void socket.close())
  const range = { from: port, to: port + 1 }
  expect(await drawPort(range, new Set(), () => 0).catch(() => 0)).not.toBe(port)
  await expect(drawPort({ from: port, to: port }, new Set(), () => 0)).rejects.toThrow(NoCapacity)
  await expect(drawPort({ from: 1, to: 2 }, new Set([1, 2]), () => 0)).rejects.toThrow('no port from 1 to 2 is free')
})

test('a local allocator limits the number of running servers, and an ended server makes room', async () => {
  const { open, end, running } = await openWorld()
  const allocator = open({ max: 2 })
  await Promise.all(['a', 'b'].map((id) => allocator.allocate(wanted(id), call)))
  await expect(allocator.allocate(wanted('c'), call)).rejects.toThrow(NoCapacity)
  await end('a', 'failed')
  await allocator.allocate(wanted('c'), call)
  await expect(open({ max: 2 }).allocate(wanted('d'), call)).rejects.toThrow(NoCapacity)
  await expect.poll(() => running().length).toBe(2)
  expect(running().toSorted()).toEqual(['b', 'c'])
})

test.each([
  ['exit 0', { status: 'ended' }],
  ['echo "no map" >&2; exit 3', { status: 'failed', detail: 'exit code 3' }],
  ['exec /nowhere/game', { status: 'failed', detail: 'exit code 127' }],
  ['kill -9 $PPID', { status: 'failed', detail: 'was killed' }],
])('the end of a launched process is detected with its status: %s', async (script, said) => {
  const { allocator } = await openScript(script)
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  expect(await statusOf(allocator)).toEqual({ id: 'a', ...said })
  await expect(allocator.allocate(wanted('a'), call)).rejects.toThrow('id: server "a" has ended. Use a new id.')
})

test('a launch in a missing folder results in a failed server, whose output names the fault', async () => {
  const { allocator } = await openScript('exit 0', { folder: '/nowhere/at/all' })
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  expect(await statusOf(allocator)).toMatchObject({ status: 'failed' })
  expect(await written(allocator)).toContain('/nowhere/at/all')
})

test('child processes of a launched server end with it', async () => {
  const { allocator, state } = await openScript('sleep 3600 & echo $!; sleep 0.2')
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  await expect.poll(() => isHeld(state), { interval: 5 }).toBe(false)
})
const isHeld = (state: string) => isAlive(join(state, 'a'))

test('a stop of a local server sends SIGTERM, and SIGKILL after the grace period', async () => {
  const clock = createManualClock()
  const graceMs = 200
  const { allocator, state } = await openScript('trap "echo asked" TERM; echo up; while :; do sleep 0.01; done', {
    graceMs,
    // The grace period passes only after the process has got SIGTERM, however slow the machine is.
    clock: {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        if (ms > graceMs) return clock.sleep(ms, signal)
        while (!(await written(allocator)).includes('asked')) await systemClock.sleep(5)
        await systemClock.sleep(ms)
      },
    },
  })
  await allocator.allocate(wanted('a'), call)
  await expect.poll(() => written(allocator)).toContain('up')
  await allocator.stop('a', call)
  expect(await isHeld(state)).toBe(false)
  expect(await written(allocator)).toContain('asked')
  await allocator.stop('a', call)
})

test('the kept output of a local server is limited in size without any poll, and contains the end', async () => {
  // Writes the last line after the rotation, because a line that is written during a rotation may be lost.
  const rotated = '[ -e "$OUTPUT.1" ] && [ $(wc -c <"$OUTPUT") -lt 1000 ]'
  const lines = 'n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); echo "line $n"; done'
  const script = `${lines}; until ${rotated}; do sleep 0.1; done; echo the end; sleep 3600`
  const { allocator, state } = await openScript(script, { outputLimit: 1000 })
  const output = join(state, 'a', 'output')
  await allocator.allocate(wanted('a', { OUTPUT: output }), call)
  // The wrapper of the process checks the size every 5 s.
  await expect.poll(() => written(allocator), { interval: 50 }).toMatch(/line \d+\nthe end\n$/)
  for (const file of [output, `${output}.1`]) expect(statSync(file).size).toBeLessThanOrEqual(1000)
})

test('three Muster processes that launch one server id at the same time start one server', async () => {
  const { open, running } = await openWorld()
  for (let round = 0; round < 10; round += 1) {
    const id = `r${round}`
    await Promise.all([open(), open(), open()].map((one) => one.allocate(wanted(id), call)))
    await expect.poll(running).toContain(id)
  }
  expect(new Set(running()).size).toBe(running().length)
})

test('the output of a server that crashes at once is bounded, and only its end is read', async () => {
  const { allocator, state } = await openScript('head -c 300000 /dev/zero | tr "\\0" x; echo the end; exit 3', {
    outputLimit: 1000,
  })
  await allocator.allocate(wanted('a'), call)
  await untilOver(allocator)
  expect(await statusOf(allocator)).toMatchObject({ status: 'failed', detail: 'exit code 3' })
  const sizes = ['output', 'output.1'].map((name) => statSync(join(state, 'a', name)).size)
  expect(sizes).toEqual([0, 1000])
  expect(await written(allocator)).toMatch(/^x{992}the end\n$/)
  writeFileSync(join(state, 'a', 'output'), `${'y'.repeat(5000)}more`)
  expect(await written(allocator)).toMatch(/the end\ny{996}more$/)
})

test('a daemon that has left the process group neither blocks the stop of its server nor takes its place', async () => {
  // Like a program in C, it passes the FIFO on, which is descriptor 9.
  const daemon = `const stdio = ['ignore', 'ignore', 'ignore', 9]
    console.log(require('child_process').spawn('sleep', ['3600'], { detached: true, stdio }).pid); process.exit()`
  const script = `"${process.execPath}" -e "${daemon}"; trap "exit 0" TERM; echo up; sleep 3600 & wait`
  const { allocator, open } = await openScript(script, { max: 1 })
  await allocator.allocate(wanted('a'), call)
  await expect.poll(() => written(allocator)).toContain('up')
  const [pid] = /\d+/.exec(await written(allocator)) ?? []
  onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'))
  await allocator.stop('a', call)
  expect(await statusOf(allocator)).toMatchObject({ status: 'ended' })
  // `max` is 1, so the ended server must not count any more.
  const next = open({ max: 1 })
  await next.allocate(wanted('b'), call)
  await next.stop('b', call)
})

test('the stop of a started server writes no file, so it succeeds on a full disk', async () => {
  const { allocator, state } = await openScript('trap "" TERM; echo up; while :; do sleep 0.01; done', { graceMs: 0 })
  await allocator.allocate(wanted('a'), call)
  await expect.poll(() => written(allocator)).toContain('up')
  const before = statSync(join(state, 'a'), { bigint: true }).mtimeNs
  await allocator.stop('a', call)
  expect(statSync(join(state, 'a'), { bigint: true }).mtimeNs).toBe(before)
})

test('a later Muster process ends only servers for which it is not polled within a minute', async () => {
  const { open, clock, running } = await openWorld()
  const first = open()
  for (const id of ['known', 'forgotten']) await first.allocate(wanted(id), call)
  await expect.poll(() => running().length).toBe(2)
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
  await expect.poll(running, { interval: 5 }).not.toContain('forgotten')
  expect(running().toSorted()).toEqual(['known', 'own'])
})

test('a server that no store knows is ended a minute after the first poll, without any further poll', async () => {
  const { open, clock, up, running } = await openWorld()
  await open().allocate(wanted('forgotten'), call)
  await up('forgotten')
  const second = open()
  await second.poll([], call)
  await clock.advance(59_000)
  expect(running()).toEqual(['forgotten'])
  await clock.advance(1000)
  await expect.poll(running, { interval: 5 }).toEqual([])
})

test('data of local servers that ended a day ago is removed at the next start, and no other data', async () => {
  const { open, clock, state } = await openWorld()
  const allocator = open({ clock: { ...clockOf(clock), wallStepMs: () => Date.now() - clock.now() } })
  await allocator.allocate(wanted('lives'), call)
  await allocator.stop('over', call)
  const later = open({ clock: { ...clockOf(clock), wallStepMs: () => Date.now() - clock.now() + 86_500_000 } })
  await later.allocate(wanted('next'), call)
  expect(readdirSync(state).toSorted()).toEqual(['lives', 'next'])
})

test('files and folders of others in the state folder are neither removed nor in the way', async () => {
  const { open, clock, state } = await openWorld()
  mkdirSync(join(state, 'backups'))
  writeFileSync(join(state, 'backups', 'world'), 'precious')
  writeFileSync(join(state, 'notes'), 'Do not delete.')
  const later = open({ clock: { ...clockOf(clock), wallStepMs: () => Date.now() - clock.now() + 86_500_000 } })
  await later.allocate(wanted('next'), call)
  expect(await statusOf(later, 'next')).toMatchObject({ status: 'ready' })
  expect(readdirSync(state).toSorted()).toEqual(['backups', 'next', 'notes'])
  expect(readdirSync(join(state, 'backups'))).toEqual(['world'])
})

const clockOf = (clock: ManualClock) => ({
  now: () => clock.now(),
  sleep: (ms: number, signal?: AbortSignal) => (ms < 100 ? systemClock.sleep(1, signal) : clock.sleep(ms, signal)),
})

test('a local server id never starts if it was stopped before its launch, or if mayWrite forbids it', async () => {
  const { open, running, state } = await openWorld()
  const allocator = open()
  await allocator.stop('early', call)
  await expect(allocator.allocate(wanted('early'), call)).rejects.toThrow(InvalidInput)
  await expect(allocator.allocate(wanted('late'), { ...call, mayWrite: () => false })).rejects.toThrow(SendAborted)
  expect([running(), existsSync(join(state, 'late'))]).toEqual([[], false])
  for (const id of ['../x', 'A', '', 'x'.repeat(41)]) {
    await expect(allocator.allocate(wanted(id), call)).rejects.toThrow('id: must have 1 to 40 characters of')
    await expect(allocator.stop(id, call)).rejects.toThrow(InvalidInput)
    expect(await statusOf(allocator, id)).toEqual({ id, status: 'unknown' })
  }
})

test('a local allocator with `endsServers` ends its servers when it closes', async () => {
  for (const endsServers of [false, true]) {
    const { open, up, running } = await openWorld()
    const allocator = open({ endsServers })
    await allocator.allocate(wanted('a'), call)
    await up('a')
    await allocator.close()
    expect(running()).toEqual(endsServers ? [] : ['a'])
  }
})

test('a local allocator that only polled ends no server of another process when it closes', async () => {
  const { open, up, running } = await openWorld()
  await open().allocate(wanted('a'), call)
  await up('a')
  const asking = open({ endsServers: true })
  await asking.poll([], call)
  await asking.close()
  expect(running()).toEqual(['a'])
})

test('a launch that was interrupted after creating its folder can be repeated', async () => {
  const { open, up, running, state } = await openWorld()
  // The previous Muster process died after it had created the folder and before it started the server.
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
])('invalid options of a local allocator are refused by name: %j', (options, field) => {
  expect(() => createLocalAllocator(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})

test('on Windows a local allocator reports that it is not supported', () => {
  expect(() => assertPosix('win32')).toThrow(expect.objectContaining({ name: 'InvalidInput', field: 'command' }))
})

test('a server whose start hangs neither blocks the starts after it nor the close of the allocator', async () => {
  const { open, state, clock, up } = await openWorld()
  const allocator = open()
  // The shell that starts the server blocks, because nothing reads this FIFO.
  await mkdir(join(state, 'a'))
  execFileSync('mkfifo', [join(state, 'a', 'output')])
  const [stuck, next] = [allocator.allocate(wanted('a'), call), allocator.allocate(wanted('b'), call)]
  const outcomes = Promise.allSettled([stuck, next])
  // Both calls and the start of the first server wait. The second server then has any time to start.
  await expect.poll(() => clock.sleepers, { interval: 5 }).toBe(3)
  await clock.advance(10_000)
  await outcomes
  await expect(stuck).rejects.toMatchObject({ name: 'TimedOut' })
  await expect.poll(() => statusOf(allocator, 'b'), { interval: 5 }).toMatchObject({ status: 'ready' })
  await up('b')
  await allocator.close()
  await allocator.stop('a', call)
  expect(await statusOf(allocator)).toMatchObject({ status: 'ended' })
})
