import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createMemoryStore, type EnrolmentDefinition, type StoreMemory } from '@muster/hosting'
import { afterEach, describe, expect, test } from 'vitest'
import { open, own } from './enrolled-servers.fixture.js'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Opens a game's socket on loopback. Returns it and the datagrams that it has received. */
async function bound() {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  closing.push(() => socket.close())
  const datagrams: string[] = []
  socket.on('message', (data) => datagrams.push(data.toString()))
  await once(socket, 'listening')
  return { socket, datagrams, port: socket.address().port }
}

const withKnock = (knock: EnrolmentDefinition['knock'], hosts = ['127.0.0.0/8']) => [
  { ...own, enrol: [{ ...own.enrol[0], hosts, knock }] },
]
const udp = withKnock({ kind: 'udp', port: 'game' })
const at = (port: number, protocol = 'UDP') => ({
  address: { host: '127.0.0.1', ports: { game: { port, protocol } } },
})

describe('a server that enrols with an address to prove by UDP', () => {
  test('a server that must prove its address by UDP gets no match before it repeats the datagram', async () => {
    const { start, run, join, status, states, report } = open({ pools: udp })
    const { socket, datagrams, port } = await bound()
    await run(500)
    join('ann', 'ben')
    const came = once(socket, 'message')
    const server = await start('fra-1', 'one', at(port))
    expect(server.status).toBe(200)
    const told = String(server.json['knock'])
    expect(told).toMatch(/^muster-knock-[\w-]{8}$/)
    await report(server)
    await came
    await run(500)
    expect([states(), status('ann-ben')]).toEqual([['STARTING'], 'SEARCHING'])
    expect(datagrams[0]).toMatch(/^muster-knock-[\w-]{30}$/)
    server.knock = datagrams.find((text) => text.startsWith(told))
    await run(1000)
    expect([states(), status('ann-ben')]).toEqual([['PLAYING'], 'HOST_ASSIGNED'])
    expect(server.json['knock']).toBeUndefined()
  })

  test('a server with a foreign address gets no match, and at most 30 datagrams of 43 bytes go there', async () => {
    const { start, run, join, status, seen, enrol, enrolment, send } = open({ pools: udp })
    const victim = await bound()
    await run(500)
    join('ann', 'ben')
    const thief = await start('fra-1', 'one', at(victim.port))
    for (let guess = 0; guess < 40; guess += 1) {
      thief.knock = `${String(thief.json['knock'])}${String(guess).padStart(22, 'A')}`
      await run(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(status('ann-ben')).toBe('SEARCHING')
    expect(victim.datagrams.length).toBeLessThanOrEqual(30)
    expect(new Set(victim.datagrams.map((text) => text.length))).toEqual(new Set([43]))
    expect(thief.status).toBe(410)
    expect(seen.problem?.map(({ error }) => String(error))).toEqual([
      'Error: Server "fra-1" of the key 73dc7b7a: Muster tried 30 times to reach its port "game", but no report ' +
        'of the server repeated a datagram that Muster had sent.',
    ])
    expect(seen.deploymentStopped).toMatchObject([{ reason: 'not-listening' }])
    // The process learns the reason, and may not enrol again.
    const said = {
      status: 410,
      json: { detail: expect.stringContaining('could not reach this server at its address') as string },
    }
    expect(await send(thief.token, 'PUT', '/servers/me', { instance: 'one', seq: 99 })).toMatchObject(said)
    expect(await enrol({ ...enrolment('fra-1', 'one'), ...at(victim.port) })).toMatchObject(said)
  })

  test('an enrolment that needs a UDP proof is refused without the port to which Muster sends datagrams', async () => {
    const { enrol, enrolment, run } = open({ pools: udp })
    await run(500)
    const answer = await enrol({ ...enrolment('fra-1', 'one'), address: { host: '127.0.0.1', ports: {} } })
    expect(answer).toMatchObject({ status: 403, json: { code: 'address' } })
    expect(String(answer.json['detail'])).toContain('must have "game"')
  })

  test('a server is not listed before the proof of its address, which it can give even while draining', async () => {
    const pools = [{ ...udp[0], name: 'arena', custom: {} }]
    const { start, run, send, matchmaker, states, report } = open({ pools })
    const { socket, datagrams, port } = await bound()
    await run(500)
    const came = once(socket, 'message')
    const server = await start('fra-1', 'one', at(port))
    await report(server)
    await came
    const listing = { name: 'mine', seats: 4 }
    const list = (seq: number) => send(server.token, 'PUT', '/servers/me', { instance: 'one', seq, listing })
    expect((await list(50)).status).toBe(200)
    expect((await send('ann', 'GET', '/servers')).json).toMatchObject({ total: 0 })
    await matchmaker.drainServer(matchmaker.inspect().servers[0]?.id ?? '')
    server.knock = datagrams[0]
    server.seq = 60
    await run(500)
    expect(states()).toEqual(['DRAINING'])
    expect(server.json['knock']).toBeUndefined()
  })
})

describe('proof of the address after a restart of Muster', () => {
  const restarted = async (isProved = false) => {
    const memory: StoreMemory = new Map()
    const before = open({ pools: udp, store: createMemoryStore(memory) })
    const { socket, datagrams, port } = await bound()
    await before.run(500)
    const came = once(socket, 'message')
    const server = await before.start('fra-1', 'one', at(port))
    await before.report(server)
    await came
    if (isProved) {
      server.knock = datagrams[0]
      await before.run(500)
    }
    const [{ id = '' } = {}] = before.matchmaker.inspect().servers
    // A copy of the store, as after kill -9: no later writes reach it.
    const left: StoreMemory = structuredClone(memory)
    await before.matchmaker.close()
    const after = open({ pools: udp, store: createMemoryStore(left), clock: before.clock })
    after.processes.push(server)
    await after.matchmaker.ready()
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        await after.matchmaker.tick()
        await before.clock.advance(500)
        if (!server.isSilent) for (const _ of [1, 2]) await after.report(server)
      }
    }
    return { ...after, run, server, datagrams, socket, id, port }
  }

  test('after a restart of Muster a server without an address proof gets the same datagram again', async () => {
    const { run, server, datagrams, socket, states, join, status, id, matchmaker } = await restarted()
    join('ann', 'ben')
    const came = once(socket, 'message')
    await run(500)
    await came
    expect([states(), status('ann-ben')]).toEqual([['STARTING'], 'SEARCHING'])
    expect(new Set(datagrams).size).toBe(1)
    server.knock = datagrams[0]
    await run(2000)
    expect([states(), status('ann-ben')]).toEqual([['PLAYING'], 'HOST_ASSIGNED'])
    expect(matchmaker.inspect().servers[0]?.id).toBe(id)
  })

  test('after a restart of Muster a server that has proved its address gets no datagram', async () => {
    const { run, datagrams, states, join, status } = await restarted(true)
    const count = datagrams.length
    join('ann', 'ben')
    await run(5000)
    expect([states(), status('ann-ben'), datagrams.length]).toEqual([['PLAYING'], 'HOST_ASSIGNED', count])
  })
})
