import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createPolledSource } from './polled-source.js'
import type { AllocatedServer } from './server-allocator.js'
import type { SourceListener } from './source.js'

/** A source whose allocator answers each poll of a server as the test says. */
function open() {
  const clock = createManualClock()
  const changes: string[] = []
  const nothing = () => {}
  const on: SourceListener = {
    changed: ({ kind }) => changes.push(kind),
    seen: () => true,
    absent: () => changes.push('absent'),
    late: nothing,
    reaped: nothing,
    answered: nothing,
    unanswered: nothing,
    stopped: nothing,
    unstopped: nothing,
    problem: nothing,
  }
  let state: (id: string) => AllocatedServer = (id) => ({ id, status: 'starting' })
  const allocator = {
    allocate: async () => {},
    poll: async (ids: readonly string[]) => ids.map(state),
    stop: async () => {},
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
  return { source, changes, run, say: (next: typeof state) => (state = next) }
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
