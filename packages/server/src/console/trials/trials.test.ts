import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ErrorBody, QueueCards, Trial } from '@muster/console/internal'
import { createManualClock, systemClock } from '@muster/core/clock'
import { createMatchmaker } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { openConsole } from '../open-console.fixture.js'
import { createFakeService } from '../service.fixture.js'
import { createRecording, linesOf } from './recording.js'

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))
const trialWorker = pathToFileURL(join(packageRoot, 'dist/console/trials/trial-worker.js'))

async function open(options?: Parameters<typeof openConsole>[0]) {
  // The clock stands still while the thread works.
  const asked = { limit: 1_000_000, windowMs: 1000 }
  const limitsOfRequests = { perCaller: asked, perAddress: asked }
  const world = await openConsole({ trialWorker, limitsOfRequests, ...options })
  const { matchmaker, clock } = world
  const yaml = async () => {
    const { body } = await world.ask('/console/api/queues', { token: 'looker' })
    return (body as QueueCards).queues[0]?.yaml ?? ''
  }
  const begin = (text: string, queue = 'duel') =>
    world.ask('/console/api/trials', { method: 'POST', token: 'looker', body: { queue, yaml: text } })
  const read = async (id: string) => (await world.ask(`/console/api/trials/${id}`, { token: 'looker' })).body as Trial
  const done = async (id: string): Promise<Trial> => {
    for (;;) {
      const trial = await read(id)
      if (trial.state !== 'running') return trial
      // In real time, because the thread needs real time.
      await systemClock.sleep(20)
    }
  }
  /** Creates players with skills 100 apart, whom the queue matches once they have waited. */
  const crowd = async (players: number) => {
    matchmaker.start()
    for (let index = 0; index < players; index += 1) {
      matchmaker.createTicket({
        queue: 'duel',
        players: [
          {
            id: `p${index}`,
            ip: '198.51.100.7',
            coordinates: { latitude: 59.9, longitude: index % 2 },
            attributes: { skill: index * 100 },
          },
        ],
      })
      await clock.advance(1000)
    }
    await clock.advance(30_000)
  }
  return { ...world, yaml, begin, read, done, crowd }
}

describe('a trial of changed rules', () => {
  test('a trial of changed rules compares the recorded and the simulated outcome, in its own thread', async () => {
    const { crowd, yaml, begin, done } = await open()
    await crowd(20)
    const answer = await begin((await yaml()).replace('value: 50', 'value: 150'))
    expect(answer).toMatchObject({ status: 202, body: { queue: 'duel', state: 'running', error: null } })
    const { state, progress, result, error } = await done((answer.body as Trial).id)
    expect(error).toBeNull()
    expect({ state, progress }).toEqual({ state: 'done', progress: 1 })
    expect(result).toMatchObject({ tickets: 20, asIs: { matches: 10, matchedShare: 1 } })
    expect(result?.changed.waitP50).toBeLessThan(2000)
    expect(result?.asIs.waitP50).toBeGreaterThan(9000)
    expect(result?.asIs.spreads).toEqual([{ attribute: 'skill', mean: expect.any(Number) }])
    expect(result?.asIs.meanKm).toBeGreaterThan(1)
    expect(result?.sentences[0]).toBe('100 % of the tickets are matched, as now.')
    expect(result?.sentences.join(' ')).toMatch(/Half of the matched tickets wait at most .* s instead of 1\d s\./)
    expect(result?.missing).toEqual(['Tickets are recorded since the program started, 50 s ago.'])
    expect(JSON.stringify(result)).not.toContain('198.51')
  })

  test('a trial of changed rules assumes that players accept if it requests acceptance anew', async () => {
    const { crowd, yaml, begin, done } = await open()
    await crowd(6)
    const { body } = await begin(`${await yaml()}acceptance:\n  withinMs: 10000\n`)
    expect((await done((body as Trial).id)).result?.changed).toMatchObject({ matches: 3, matchedShare: 1 })
  })

  test('a trial of changed rules is refused with the line if its YAML is invalid', async () => {
    const { begin, crowd } = await open()
    await crowd(2)
    const { status, body } = await begin('name: duel\nmatchSize: 0\ndeploy: { application: a, version: "1" }')
    expect(status).toBe(422)
    expect((body as ErrorBody).faults).toMatchObject([{ line: 2, message: expect.stringContaining('matchSize') }])
    expect((await begin('a', 'nothing')).status).toBe(404)
  })

  test('a trial of changed rules needs recorded tickets', async () => {
    const { begin, yaml } = await open()
    expect(await begin(await yaml())).toMatchObject({ status: 409, body: { code: 'nothing-recorded' } })
  })

  test('a third trial of changed rules at the same time is refused until one of the two is cancelled', async () => {
    const { begin, yaml, crowd, ask, done } = await open()
    await crowd(4)
    const text = await yaml()
    const first = (await begin(text)).body as Trial
    expect((await begin(text)).status).toBe(202)
    expect(await begin(text)).toMatchObject({ status: 429, body: { code: 'too-many-trials' } })
    const path = `/console/api/trials/${first.id}`
    expect((await ask(path, { method: 'DELETE', token: 'looker' })).status).toBe(204)
    expect((await ask(path, { token: 'looker' })).status).toBe(404)
    const last = (await begin(text)).body as Trial
    expect((await done(last.id)).state).toBe('done')
  })

  test('a trial of changed rules is ended with a message if it takes too long', async () => {
    const { begin, yaml, crowd, done, clock } = await open({
      // A worker that never sends a message.
      trialWorker: new URL('data:text/javascript,setInterval(() => {}, 1000)'),
    })
    await crowd(2)
    const { id } = (await begin(await yaml())).body as Trial
    await clock.advance(120_000)
    expect(await done(id)).toMatchObject({ state: 'failed', error: expect.stringContaining('longer than two minutes') })
  })

  test('a trial of changed rules reports that its thread ended early', async () => {
    const { begin, yaml, crowd, done } = await open({ trialWorker: new URL('data:text/javascript,process.exit(3)') })
    await crowd(2)
    const { id } = (await begin(await yaml())).body as Trial
    expect(await done(id)).toMatchObject({ state: 'failed', error: 'the replay ended early' })
  })
})

describe('the recording for trials', () => {
  const open = (partLength: number) => {
    const clock = createManualClock()
    const recording = createRecording({ clock, partLength, parts: 2 })
    const service = createFakeService({ clock })
    const deploy = { application: 'game', version: '1' }
    const queue = { name: 'duel', matchSize: 2, presence: { withinMs: 60_000 }, deploy }
    const plain = createMatchmaker({ deployments: service.deployments, queues: [queue], clock })
    const matchmaker = recording.of(plain, [queue], undefined)
    let made = 0
    const arrive = async (tickets: number, everyMs: number) => {
      for (let count = 0; count < tickets; count += 1) {
        made += 1
        matchmaker.createTicket({ id: `t${made}`, queue: 'duel', players: [{ id: `p${made}`, ip: '198.51.100.7' }] })
        await clock.advance(everyMs)
      }
    }
    const ids = () =>
      [...linesOf(recording.latest().pieces, 0)].flatMap((line) => /"id":"t(\d+)"/.exec(line)?.[1] ?? []).map(Number)
    return { clock, recording, plain, arrive, ids }
  }

  test('the recording for trials contains each of few tickets, across its parts without a gap', async () => {
    const { recording, arrive, ids, clock } = open(2000)
    const start = clock.now()
    await arrive(10, 100_000)
    expect(ids()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(recording.latest()).toMatchObject({ from: start, isPart: false, lines: 11 })
  })

  test('the recording for trials contains the newest of many tickets, without a gap', async () => {
    const { recording, arrive, ids, clock, plain } = open(2000)
    const start = clock.now()
    await arrive(100, 10)
    const first = ids()
    expect(first.length).toBeGreaterThan(5)
    expect(first.length).toBeLessThan(30)
    expect(first).toEqual(first.map((_, index) => 101 - first.length + index))
    expect(recording.latest()).toMatchObject({ isPart: true })
    expect(recording.latest().from).toBeGreaterThan(start)
    expect(plain.getTicket('t100')).toBeDefined()
    await arrive(3, 10)
    expect(ids().slice(-3)).toEqual([101, 102, 103])
  })

  test('the recording for trials has a limited size', async () => {
    const { recording, arrive } = open(2000)
    await arrive(300, 3000)
    const bytes = recording.latest().pieces.reduce((sum, piece) => sum + piece.length, 0)
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThan(2 * 2000 + 500)
  })
})
