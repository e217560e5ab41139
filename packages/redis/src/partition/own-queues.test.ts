import { createManualClock, type ManualClock } from '@muster/core/clock'
import type { MatchmakerOptions } from '@muster/matchmaker'
import type { ServerAllocator } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import { OwnQueues } from './own-queues.js'
import { inForceText } from './partition-options.js'
import { duel, FakeService } from './world.fixture.js'

const optionsOf = (clock: ManualClock) => ({ queues: [duel], deployments: new FakeService(clock) })

/** Returns an allocator that is never called. */
const allocatorAt = (url: string | undefined): ServerAllocator => ({
  url,
  allocate: () => Promise.resolve(),
  poll: () => Promise.resolve([]),
  stop: () => Promise.resolve(),
})

/** The queues of a process, in a store that fails while `fails` is true. */
function setUp(sources?: MatchmakerOptions['sources']) {
  const clock = createManualClock()
  const options = { ...optionsOf(clock), sources }
  const state = { text: inForceText([duel], options, 'process-1'), fails: false }
  const problems: unknown[] = []
  const queues = new OwnQueues(options, {
    store: {
      getInForce: async () => {
        if (state.fails) throw new Error('no answer')
        return { text: state.text, since: 0 }
      },
      setInForce: async (_, text) => {
        state.text = text
        return { text, since: 0 }
      },
    },
    clock,
    title: 'process-2',
    differ: () => {},
    problem: (error) => problems.push(error),
  })
  return { clock, queues, state, problems }
}

test('a failed comparison is forgotten once a later one has succeeded, whoever began it', async () => {
  const { clock, queues, state } = setUp()
  state.fails = true
  await expect(queues.compared()).rejects.toThrow('no answer')
  state.fails = false
  await clock.advance(5000)
  await queues.compare()
  await clock.advance(500)
  await queues.compared()
})

test('a process leads although the text that the leader before has stored is damaged', async () => {
  const { queues, state, problems } = setUp()
  state.text = 'no JSON'
  await queues.lead({ token: '1', signal: AbortSignal.timeout(5000) } as Parameters<OwnQueues['lead']>[0])
  expect(state.text).toContain('"by":"process-2"')
  expect(problems).toEqual([])
})

test('a leader whose allocators have other URLs is configured differently', async () => {
  const { queues, state, problems, clock } = setUp({ metal: allocatorAt('https://one.example.com') })
  const compare = async (url: string | undefined) => {
    const text = inForceText([duel], { ...optionsOf(clock), sources: { metal: allocatorAt(url) } }, 'process-1')
    state.text = text
    await queues.compare()
    return problems.splice(0).map(String)
  }
  expect(await compare('https://one.example.com')).toEqual([])
  expect(await compare('https://two.example.com')).toEqual([
    expect.stringContaining('configured differently from this process: URLs of allocators.'),
  ])
  const earlier = JSON.parse(state.text) as { others: Record<string, string> }
  delete earlier.others['URLs of allocators']
  state.text = JSON.stringify(earlier)
  await queues.compare()
  expect(problems).toEqual([])
})
