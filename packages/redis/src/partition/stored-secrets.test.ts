import { inspect } from 'node:util'
import type { Ticket } from '@muster/matchmaker'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readInForce } from './partition-options.js'
import { resultKey, viewOf } from './notes.js'
import { MemoryPartition } from './store/memory-partition.fixture.js'
import { decodeHeader } from './store/header.js'
import { PartitionUnavailable } from './partition-errors.js'
import { createWorld } from './world.fixture.js'

const SECRET = 'hush7f3a'
const ADDRESS = '198.51.100.77'
/** Generates a string that contains both secrets and is not JSON, broken at any position. */
const broken = fc.tuple(fc.nat(60), fc.constantFrom('', 'x', '{', '"', '}}')).map(([at, end]) => {
  const whole = JSON.stringify({ players: [{ id: 'ann', ip: ADDRESS }], secret: SECRET })
  return `${whole.slice(0, at)}${SECRET}${ADDRESS}${end}`
})

const shows = (error: unknown) => {
  const text = `${inspect(error, { depth: 9 })} ${(error as Error).message}`
  return text.includes('hush') || text.includes('198.51')
}

test('errors about stored data never repeat that data', () => {
  fc.assert(
    fc.property(broken, (text) => {
      for (const read of [
        () => viewOf({ id: 'ann', createdAt: 1, body: text, header: undefined }),
        () => viewOf({ id: 'ann', createdAt: 1, body: '{"queues":[],"players":[]}', header: `M2 m1\n${text}` }),
        () => decodeHeader(`A2 m1\n{}\n${text}`),
        () => decodeHeader(text),
        () => readInForce(text, 1),
      ]) {
        const error = (() => {
          try {
            read()
            return 'nothing'
          } catch (thrown) {
            return thrown
          }
        })()
        expect(error).toBeInstanceOf(Error)
        expect(shows(error)).toBe(false)
      }
    }),
  )
})

const KINDS = ['body', 'header', 'assignment', 'record', 'backfill', 'result'] as const
test.each(KINDS)(
  'a damaged entry of the kind %s in the store is reported without its content, and the process continues',
  async (what) => {
    const results = { url: 'https://game.example.com/results', secret: `whsec_${btoa('x'.repeat(32))}` }
    const { clock, partition, problems, process, pass, player } = createWorld(what === 'result' ? { results } : {})
    const bad = `[${SECRET} ${ADDRESS}`
    if (what === 'body') partition.tickets.set('ann', { id: 'ann', createdAt: 1, body: bad, header: undefined })
    const body = JSON.stringify({ queues: ['duel'], players: [{ id: 'ann' }] })
    const headers = { header: `M2 m1\n${bad}`, assignment: `A2 m1\n{}\n${bad}` }
    const header = headers[what as keyof typeof headers]
    if (header !== undefined) partition.tickets.set('ann', { id: 'ann', createdAt: 1, body, header })
    if (what === 'record') partition.hosting.set('m:m1', { key: 'm:m1', text: bad, locked: [] })
    if (what === 'backfill') partition.backfills.set('b1', { backfillId: 'b1', text: bad })
    if (what === 'result') partition.notes.set(resultKey('msg_1'), { key: resultKey('msg_1'), text: bad })
    expect(partition).toBeInstanceOf(MemoryPartition)
    const only = process()
    only.onMatching('problem', (problem) => problems.push(problem))
    only.start()
    await pass(5000)
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) expect(shows(problem)).toBe(false)
    if (what === 'body' || header !== undefined)
      await expect(clock.until(only.getTicket('ann'), 10)).rejects.not.toSatisfy(shows)
    // Without the server's record, nobody knows whether the server runs, so the takeover stops.
    const goesOn = what !== 'record'
    for (const id of ['bob', 'eve']) await only.createTicket({ id, queue: 'duel', players: [player(id)] })
    await pass(3000)
    expect((await only.getTicket('eve'))?.status === 'HOST_ASSIGNED').toBe(goesOn)
    await clock.until(only.close(), 10)
  },
)

test.each(['{"a":1}', '[]', 'null', '7', '{', '{"serverId":"other","at":1}'])(
  'the record %s under the key of a server lets nobody lead, and the error names the record',
  async (text) => {
    const { clock, partition, problems, process, pass, player } = createWorld()
    partition.hosting.set('s:f00', { key: 's:f00', text, locked: [] })
    const only = process()
    only.onMatching('problem', (problem) => problems.push(problem))
    only.start()
    await pass(3000)
    expect(problems.map(String)).toContainEqual(expect.stringContaining('the stored record s:f00 of a server'))
    for (const id of ['bob', 'eve']) await only.createTicket({ id, queue: 'duel', players: [player(id)] })
    await pass(3000)
    expect((await only.getTicket('eve'))?.status).toBe('SEARCHING')
    partition.hosting.delete('s:f00')
    await pass(10_000)
    expect((await only.getTicket('eve'))?.status).toBe('HOST_ASSIGNED')
    await clock.until(only.close(), 10)
  },
)

test('a process with another secret than the leader asks game servers to try again, and refuses none', async () => {
  const world = createWorld()
  const [first, second] = [world.process(), world.process({ serverSecret: 's'.repeat(32) })]
  const answer = <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  first.start()
  await world.pass(300)
  second.start()
  await world.pass(300)
  for (const id of ['ann', 'bob']) await answer(first.createTicket({ id, queue: 'duel', players: [world.player(id)] }))
  await world.pass(500)
  const token = world.service.servers[0]?.environment?.['MUSTER_SERVER_TOKEN'] ?? ''
  expect(await answer(first.isServerSecret(token))).toBe(true)
  await expect(answer(second.isServerSecret(token))).rejects.toBeInstanceOf(PartitionUnavailable)
  expect(await answer(first.isServerSecret(`${token}x`))).toBe(false)
  await answer(Promise.all([first.close(), second.close()]))
})

test('a process with another secret than the leader gives no join token that servers would refuse', async () => {
  const world = createWorld()
  const [first, second] = [world.process(), world.process({ serverSecret: 's'.repeat(32) })]
  const answer = <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  first.start()
  await world.pass(300)
  second.start()
  await world.pass(300)
  for (const id of ['ann', 'bob']) await answer(second.createTicket({ id, queue: 'duel', players: [world.player(id)] }))
  expect((await answer(second.getTicket('ann')))?.status).toBe('SEARCHING')
  await world.pass(3000)
  expect((await answer(first.getTicket('ann')))?.status).toBe('HOST_ASSIGNED')
  for (const ask of [() => second.getTicket('ann'), () => second.findPlayer('bob')])
    await expect(answer<unknown>(ask())).rejects.toThrow('The leading process has another secret of game servers.')
  await answer(Promise.all([first.close(), second.close()]))
})

test('each process signs join tokens by the algorithm of the leader, from which game servers have it', async () => {
  const world = createWorld()
  const [first, second] = [world.process({ joinTokens: { alg: 'EdDSA' } }), world.process()]
  const answer = <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  const algorithms = async () => {
    const tickets = await Promise.all([first, second].map((one) => answer(one.getTicket('ann'))))
    const tokens = [first, second].map((one, nth) => one.joinToken(tickets[nth] as Ticket, 'ann') ?? '')
    const headers = tokens.map((token) => Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
    return headers.map((header) => (JSON.parse(header) as { readonly alg: string }).alg)
  }
  first.start()
  await world.pass(300)
  second.start()
  await world.pass(300)
  for (const id of ['ann', 'bob']) await answer(second.createTicket({ id, queue: 'duel', players: [world.player(id)] }))
  await world.pass(3000)
  expect(await algorithms()).toEqual(['EdDSA', 'EdDSA'])
  expect(await answer(second.joinKeys())).toEqual(await answer(first.joinKeys()))
  await answer(first.close())
  await world.pass(2000)
  expect(second.leads()).toBe(true)
  const ticket = await answer(second.getTicket('ann'))
  const [header = ''] = second.joinToken(ticket as Ticket, 'ann')?.split('.') ?? []
  expect(Buffer.from(header, 'base64url').toString()).toContain('HS256')
  await answer(second.close())
})
