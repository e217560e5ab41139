import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { deploy, setUp } from './matchmaker.fixture.js'

const TARGET_MS = 10_000

test('with a target wait, limits are stricter in a crowd than with few players, as explain shows', async () => {
  const { matchmaker, run } = setUp({
    queues: [
      {
        name: 'duel',
        matchSize: 2,
        targetWaitMs: TARGET_MS,
        rules: [{ kind: 'difference', attribute: 'skill', max: { strictest: 5, loosest: 500 } }],
        deploy,
      },
    ],
    maxServers: Infinity,
    maxStarting: Infinity,
  })
  const random = seededRandom(1)
  const gaps: number[] = []
  const skills = new Map<string, number>()
  matchmaker.on('matchFound', ({ tickets }) => {
    const [one = 0, other = 0] = tickets.map(({ id }) => skills.get(id) ?? 0)
    gaps.push(Math.abs(one - other))
  })
  let count = 0
  const come = () => {
    const id = `t${(count += 1)}`
    const skill = Math.round(1000 * random())
    skills.set(id, skill)
    const coordinates = { latitude: 50, longitude: 8 }
    matchmaker.createTicket({ id, queue: 'duel', players: [{ id, coordinates, attributes: { skill } }] })
  }
  const arrive = async (seconds: number, everyMs: number) => {
    for (let passed = 0; passed < seconds * 1000; passed += everyMs) {
      come()
      await run(everyMs)
    }
    return matchmaker.inspect().queues[0]?.targetWait
  }
  const meanGap = () => gaps.splice(0).reduce((sum, gap, _, { length }) => sum + gap / length, 0)

  await arrive(90, 250)
  gaps.length = 0
  const dense = await arrive(40, 250)
  const denseGap = meanGap()
  await arrive(100, 2500)
  gaps.length = 0
  const sparse = await arrive(100, 2500)
  expect(sparse?.headStartMs).toBeGreaterThan(dense?.headStartMs ?? Infinity)
  expect(meanGap()).toBeGreaterThan(2 * denseGap)

  come()
  const { summary } = matchmaker.explain(`t${count}`).queues?.[0] ?? {}
  expect(summary).toContain('Limits adapt to how many players come, to reach waits of 10 s')
})
