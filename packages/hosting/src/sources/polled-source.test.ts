import { NoCapacity } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createPolledSource } from './polled-source.js'
import type { AllocatedServer } from './server-allocator.js'
import { silentListener } from './silent-listener.fixture.js'
import type { CreateServerRequest, SourceListener } from './source.js'

/** Creates a source whose allocator answers each poll of a server as the test says. */
function open() {
  const clock = createManualClock()
  const changes: string[] = []
  const gone = new Set<string>()
  const reporting = new Set<string>()
  const problems: string[] = []
  const on: SourceListener = {
    ...silentListener,
    changed: ({ kind, handle }) => {
      changes.push(kind)
      if (kind === 'gone') gone.add(handle)
    },
    absent: () => changes.push('absent'),
    isReporting: (handle) => reporting.has(handle),
    problem: (_during, error) => problems.push((error as Error).message),
  }
  let answerTo: (ids: readonly string[]) => readonly AllocatedServer[] = (ids) =>
    ids.map((id) => ({ id, status: 'starting' }))
  const calls = { poll: 0, stop: 0 }
  let failure: Error | undefined
  /** Names of the calls that get no response. */
  const hanging = new Set<string>()
  const answered = <Answer>(call: string, answer: Answer) =>
    hanging.has(call) ? new Promise<Answer>(() => {}) : Promise.resolve(answer)
  const allocator = {
    allocate: async () => {
      if (failure !== undefined) throw failure
      await answered('allocate', undefined)
    },
    poll: (ids: readonly string[]) => {
      calls.poll += 1
      return answered('poll', answerTo(ids))
    },
    stop: () => {
      calls.stop += 1
      return answered('stop', undefined)
    },
  }
  const source = createPolledSource({ allocator, clock, random: () => 0, lagMs: 1000 })(on)
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advance(500)
      source.watch(clock.now())
      source.advance(clock.now())
      await clock.advance(0)
    }
  }
  return {
    clock,
    source,
    changes,
    gone,
    reporting,
    problems,
    run,
    say: (state: (id: string) => AllocatedServer) => (answerTo = (ids) => ids.map(state)),
    /** Sets the function that returns the answer to a poll with at least one id. */
    sayAll: (next: typeof answerTo) => (answerTo = (ids) => (ids.length === 0 ? [] : next(ids))),
    calls,
    hanging,
    refuse: (cause: Error) => (failure = cause),
  }
}

const unclear = (id: string): AllocatedServer => ({ id, status: 'unclear' })
const ready = (id: string): AllocatedServer => ({ id, status: 'ready', host: 'h.example.com', ports: {} })
const ended = (id: string): AllocatedServer => ({ id, status: 'ended' })

test('a starting server is polled again after an unclear answer, and becomes ready', async () => {
  const { source, changes, run, say } = open()
  source.follow('s-1', 'game')
  await run(2000)
  say(unclear)
  await run(2000)
  say(ready)
  await run(2000)
  expect(changes).toContain('ready')
})

test('a running server is polled again after an unclear answer, and its end is noticed', async () => {
  const { source, changes, run, say } = open()
  say(ready)
  source.follow('s-1', 'game')
  await run(2000)
  source.settle('s-1')
  say(unclear)
  await run(12_000)
  say(ended)
  await run(6000)
  expect(changes.at(-1)).toBe('gone')
})

test('a server whose allocate was not answered is polled again after an unclear answer', async () => {
  const { source, changes, run, say } = open()
  say(unclear)
  source.find({ id: 's-1', lostAt: 0, isAwaited: false })
  await run(3000)
  expect(changes).toEqual([])
  say((id) => ({ id, status: 'unknown' }))
  await run(3000)
  expect(changes).toEqual(['absent'])
})

test('a server that is missing in an answer takes no state from an entry with an empty id', async () => {
  const { source, changes, run, say } = open()
  say(() => ready(''))
  source.follow('s-1', 'game')
  await run(3000)
  say(() => ended(''))
  await run(3000)
  expect(changes).toEqual([])
  say(ready)
  await run(2000)
  expect(changes).toContain('ready')
})

test('a server with two contradicting entries in one answer has an unclear state', async () => {
  const { source, changes, run, sayAll } = open()
  source.follow('s-1', 'game')
  for (const entries of [
    [ready('s-1'), ended('s-1')],
    [ended('s-1'), ready('s-1')],
  ]) {
    sayAll(() => entries)
    await run(3000)
  }
  expect(changes).toEqual([])
  sayAll(() => [ready('s-1'), ready('s-1')])
  await run(2000)
  expect(changes).toContain('ready')
})

const request: CreateServerRequest = {
  id: 's-1',
  deploy: { application: 'a', version: '1', tags: [] },
  environment: [],
  token: '',
  at: undefined,
  players: [],
  cachedOnly: false,
}

test('a server that exists in spite of an error is stopped by its own id, whatever id the error names', async () => {
  const { source, refuse } = open()
  refuse(new NoCapacity('full', { operation: 'create', requestId: 'r-7' }))
  expect(await source.prepare(request)()).toMatchObject({ kind: 'no-capacity', handle: 's-1' })
  refuse(new NoCapacity('full', { operation: 'create' }))
  expect(await source.prepare(request)()).toMatchObject({ kind: 'no-capacity', handle: undefined })
})

describe('an allocator that never answers some of its calls', () => {
  test('the ends of servers are noticed again once polls are answered', async () => {
    const { source, gone, run, say, hanging } = open()
    for (let nth = 0; nth < 500; nth += 1) source.follow(`s-${nth}`, 'game')
    hanging.add('poll')
    await run(2000)
    hanging.clear()
    say(ended)
    await run(30_000)
    expect(gone.size).toBe(500)
  })

  test('a stop is repeated until it is confirmed', async () => {
    const { clock, source, run, calls, hanging } = open()
    let confirmed = 0
    hanging.add('stop')
    source.stop({ handle: 's-1', knownAt: clock.now(), by: 'test', confirmed: () => (confirmed += 1) })
    await run(10_000)
    hanging.clear()
    await run(30_000)
    expect([confirmed, calls.stop]).toEqual([1, 2])
  })

  test('a create counts as lost, so that its server is looked for', async () => {
    const { clock, source, hanging } = open()
    hanging.add('allocate')
    const outcome = source.prepare(request)()
    expect(await clock.until(outcome)).toMatchObject({ kind: 'lost', error: { name: 'TimedOut' } })
  })
})

test('the data of a server comes from the entry with its id, whatever else the allocator returns', async () => {
  const { source, say } = open()
  const place = { latitude: 60, longitude: 10 }
  say(() => ({ ...ready('s-2'), location: place }))
  expect(await source.inspect('s-1')).toBeUndefined()
  say((id) => ({ ...ready(id), location: place }))
  expect(await source.inspect('s-1')).toMatchObject({ location: place })
  say(unclear)
  expect(await source.inspect('s-1')).toBeUndefined()
})

test('a server that its allocator does not know is not over while its process reports to Muster', async () => {
  const { source, problems, gone, reporting, run, say } = open()
  say((id) => ({ id, status: 'ready', host: 'a.example.com', ports: { game: { port: 7777 } } }))
  source.follow('a', 'game')
  await run(1000)
  source.settle('a')
  say((id) => ({ id, status: 'unknown' }))
  reporting.add('a')
  await run(20_000)
  expect([...gone]).toEqual([])
  expect(problems).toContainEqual(
    expect.stringContaining('the allocator does not know it, but its process has reported'),
  )
  reporting.delete('a')
  await run(6000)
  expect([...gone]).toEqual(['a'])
})

test('an unclear state of a server is a problem once, and again when it changes or returns', async () => {
  const { source, problems, reporting, run, say } = open()
  const minute = async (detail?: string) => {
    say((id) => (detail === undefined ? ready(id) : { id, status: 'unclear', detail }))
    await run(60_000)
    return problems.splice(0).map((text) => text.replace(/.*state: /, ''))
  }
  say(ready)
  source.follow('a', 'game')
  await run(1000)
  source.settle('a')
  expect(await minute('the machine is silent')).toEqual(['the machine is silent'])
  expect(await minute('the machine is gone')).toEqual(['the machine is gone'])
  expect(await minute()).toEqual([])
  expect(await minute('the machine is gone')).toEqual(['the machine is gone'])
  reporting.add('a')
  say((id) => ({ id, status: 'unknown' }))
  await run(60_000)
  expect(problems).toHaveLength(1)
})
