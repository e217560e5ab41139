import { Unavailable } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { createPair, duel, type Server } from './world.fixture.js'

type Pair = Awaited<ReturnType<typeof createPair>>

/** Returns all requests that followers have posted to the leader, as one text. */
const postedIn = ({ partition }: Pair) =>
  partition.inbox
    .all()
    .flatMap((entry) => (entry.kind === 'ask' ? entry.text : []))
    .join('\n')

const tokenOf = (server: Server | undefined) => server?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''

describe('webhooks at a follower', () => {
  const hook = ({ answer, second }: Pair, path: string, body: string) =>
    answer(second.webhook(new Request(`https://muster.example${path}`, { method: 'POST', body })))

  test('a webhook without a genuine token does not reach Redis', async () => {
    const pair = await createPair({ webhookUrl: 'https://muster.example/hooks' })
    const before = postedIn(pair)
    const guesses = ['/hooks/guess', `/hooks/server.${'x'.repeat(22)}`, `/hooks/${'x'.repeat(2000)}`]
    for (const path of guesses) expect((await hook(pair, path, 'x'.repeat(60_000))).status).toBe(404)
    expect(postedIn(pair)).toBe(before)
    await pair.close()
  })

  test('of the body of a webhook, a follower forwards only what the leader reads', async () => {
    const pair = await createPair({ webhookUrl: 'https://muster.example/hooks' })
    await pair.join('ann', 'bob')
    await pair.pass(200)
    const path = `/hooks/${tokenOf(pair.service.servers[0])}`
    const before = postedIn(pair).length
    const body = { request_id: 'r1', current_status: 'Status.READY', logs: 'x'.repeat(60_000) }
    for (const text of [JSON.stringify(body), JSON.stringify({ ...body, request_id: 'x'.repeat(5000) }), 'x{'])
      expect((await hook(pair, path, text)).status).toBe(204)
    expect(postedIn(pair).length - before).toBeLessThan(2000)
    expect(postedIn(pair)).toContain('Status.READY')
    await pair.close()
  })
})

describe('enrolment keys at a follower', () => {
  const KEY = 'k'.repeat(40)
  const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
  const pool = { name: 'own', places, enrol: [{ key: KEY, place: 'Oslo', max: 1 }] }

  test('a token that is no key of the follower’s pools is never sent to Redis', async () => {
    const pair = await createPair({ pools: [pool], queues: [duel, { name: 'owned', matchSize: 2, pool: 'own' }] })
    const { second, answer } = pair
    const token = 'the-key-of-a-backend-that-was-sent-by-mistake'
    expect(await answer(second.isEnrolmentKey(token))).toBe(false)
    expect(postedIn(pair)).not.toContain(token)
    expect(await answer(second.isEnrolmentKey(KEY))).toBe(true)
    await pair.close()
  })

  test('a follower knows the keys of its changed pools, and whether the leader has them decides', async () => {
    const pair = await createPair({ pools: [pool], queues: [duel, { name: 'owned', matchSize: 2, pool: 'own' }] })
    const { first, second, answer } = pair
    const changed = { ...pool, enrol: [{ key: 'n'.repeat(40), place: 'Oslo', max: 1 }] }
    const queues = [duel, { name: 'owned', matchSize: 2, pool: 'own' }]
    second.reconfigure(queues, { pools: [changed] })
    // The server tries again, and its address has not guessed a key.
    await expect(answer(second.isEnrolmentKey('n'.repeat(40)))).rejects.toThrow(Unavailable)
    expect(await answer(second.isEnrolmentKey(KEY))).toBe(false)
    first.reconfigure(queues, { pools: [changed] })
    expect(await answer(second.isEnrolmentKey('n'.repeat(40)))).toBe(true)
    await pair.close()
  })
})
