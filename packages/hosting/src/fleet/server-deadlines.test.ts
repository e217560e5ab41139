import { ServerError } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { Fleet } from './fleet.js'
import { createEndTimes } from './server-deadlines.js'
import { Server } from '../records/server.js'
import type { OpenedSource } from '../sources/sources.js'

const sourcesWith = (source: Pick<OpenedSource, 'inspect'>) => ({ of: () => source as OpenedSource })

function setUp(answer: (handle: string) => { readonly ageMs?: number } | Error | undefined) {
  const clock = createManualClock()
  const fleet = new Fleet()
  const asked: string[] = []
  const problems: string[] = []
  const endTimes = createEndTimes({
    sources: sourcesWith({
      inspect: async (handle) => {
        asked.push(handle)
        const told = answer(handle)
        if (told instanceof Error) throw told
        return told && { ageMs: told.ageMs, location: undefined }
      },
    }),
    fleet,
    clock,
    located: () => {},
    problem: (_, { id }) => problems.push(id),
  })
  const add = (id: string, lastsMs: number, source?: string, at = 0): Server => {
    const server = new Server({ serverId: id, queue: 'duel', at, source }, undefined)
    fleet.add(server)
    fleet.identify(server, `r-${id}`)
    fleet.enter(server, 'running')
    server.lastsMs = lastsMs
    endTimes.expect(server)
    return server
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      endTimes.advance(clock.now())
      await clock.advance(250)
    }
  }
  return { clock, fleet, asked, problems, add, run }
}

test('after a restart each deployment is read once for its age, one at a time', async () => {
  const { clock, asked, add, run } = setUp((id) => ({ ageMs: id === 'r-old' ? 90_000 : 10_000 }))
  const [old, young] = [add('old', 100_000), add('young', 100_000)]
  const startedAt = clock.now()
  await run(5000)
  expect(asked).toEqual(['r-old', 'r-young'])
  expect(old.endsAt).toBe(startedAt + 10_000)
  expect(young.endsAt).toBe(startedAt + 250 + 90_000)
})

test('after a restart a match whose deployment has no start time may last its whole duration again', async () => {
  const { clock, add, run } = setUp(() => ({}))
  const one = add('one', 60_000)
  const at = clock.now()
  await run(250)
  expect(one.endsAt).toBe(at + 60_000)
})

test('after a restart a server that seems too old counts as new if its source reports no age', async () => {
  const { clock, add, run } = setUp(() => ({}))
  const at = clock.now()
  const [old, young] = [add('old', 60_000, 'metal', at - 3_600_000), add('young', 60_000, 'metal', at - 1000)]
  await run(500)
  expect([old.startedAfter, young.startedAfter]).toEqual([at, at - 1000])
})

test('after a restart a failed read of a deployment’s age is repeated later and delays no other read', async () => {
  const { asked, problems, add, run } = setUp((id) => (id === 'r-bad' ? new ServerError('down') : { ageMs: 1000 }))
  const [bad, good] = [add('bad', 60_000), add('good', 1000)]
  await run(12_000)
  expect([bad.endsAt, Number.isFinite(good.endsAt)]).toEqual([Infinity, true])
  expect(asked.filter((id) => id === 'r-bad')).toHaveLength(3)
  expect(problems).toEqual(['bad', 'bad', 'bad'])
})

test.each([undefined, new ServerError('down')])(
  'after a restart a server whose age cannot be read runs for its maximum duration at most (%s)',
  async (answer) => {
    const { clock, add, run } = setUp(() => answer)
    const one = add('one', 60_000)
    const at = clock.now()
    await run(59_000)
    expect(one.endsAt).toBe(Infinity)
    await run(2000)
    expect(one.endsAt).toBe(at + 60_000)
  },
)

test('deployments that are gone or being stopped are not read for their age after a restart', async () => {
  const { asked, problems, fleet, add, run } = setUp(() => undefined)
  const [ended, stopping] = [add('ended', 1000), add('stopping', 1000), add('unknown', 1000)]
  fleet.remove(ended)
  fleet.enter(stopping, 'stopping')
  await run(1000)
  expect(asked).toEqual(['r-unknown'])
  expect(problems).toEqual([])
})
