import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { OwnQueues } from './own-queues.js'
import { inForceText } from './partition-options.js'
import { duel, FakeService } from './world.fixture.js'

/** The queues of a process, in a store that fails while `fails` is true. */
function setUp() {
  const clock = createManualClock()
  const options = { queues: [duel], deployments: new FakeService(clock) }
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
