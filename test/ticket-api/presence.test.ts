/** Tests presence over real connections, with a manual clock. */
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { createManualClock } from '@muster/core/clock'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { until } from '../matchmaker/studio.js'

const nobody = async () => {
  throw new Error('nobody asks for a server')
}

const noServers = { data: [], has_next: false }

/** Starts the API with a queue that makes no matches, whose clients may be away for 10 s. */
async function open() {
  const clock = createManualClock()
  const matchmaker = createMatchmaker({
    clock,
    deployments: { create: nobody, get: nobody, stop: nobody, list: async () => noServers as never },
    queues: [
      { name: 'duel', matchSize: 9, presence: { withinMs: 10_000 }, deploy: { application: 'game', version: '1' } },
    ],
  })
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : { id }
    },
    clock,
    limits: { perAddress: null },
  })
  const server = createServer(nodeListener(api))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []

  const create = async (who: string): Promise<string> => {
    const headers = { authorization: who, 'content-type': 'application/json' }
    const body = JSON.stringify({ profile: 'duel' })
    const response = await fetch(`http://127.0.0.1:${port}/tickets`, { method: 'POST', headers, body })
    return ((await response.json()) as { readonly id: string }).id
  }
  /** Sends a request on its own socket. The response may be left unread. */
  const ask = (who: string, path: string, isRead: boolean): Socket => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    if (isRead) socket.resume()
    else socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${who}\r\n\r\n`)
    return socket
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advance(500)
      await matchmaker.tick()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const shut = async () => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await matchmaker.close()
  }
  const outcome = (id: string) => matchmaker.getTicket(id)?.cancelReason ?? matchmaker.getTicket(id)?.status
  return { api, create, ask, run, outcome, shut }
}

test('a client is present until its connection breaks, or until it stops reading for too long', async () => {
  const { api, create, ask, run, outcome, shut } = await open()
  const names = ['polls', 'streams', 'stays', 'vanishes']
  const [polls = '', streams = '', stays = '', vanishes = ''] = await Promise.all(names.map(create))
  const poll = ask('polls', `/tickets/${polls}?wait=30&version=1`, true)
  const stream = ask('streams', `/tickets/${streams}/events`, true)
  ask('stays', `/tickets/${stays}?wait=30&version=1`, true)
  ask('vanishes', `/tickets/${vanishes}/events`, false)
  await until('all of them wait', () => api.counts().waiting === 4)
  await run(12_000)
  expect([polls, streams, stays, vanishes].map(outcome)).toEqual(Array(4).fill('SEARCHING'))
  poll.destroy()
  stream.destroy()
  await until('two have gone', () => api.counts().waiting === 2)
  await run(9000)
  expect([polls, streams].map(outcome)).toEqual(['SEARCHING', 'SEARCHING'])
  await run(2000)
  expect([polls, streams, stays, vanishes].map(outcome)).toEqual(['absent', 'absent', 'SEARCHING', 'SEARCHING'])
  await run(10_000)
  expect([stays, vanishes].map(outcome)).toEqual(['SEARCHING', 'absent'])
  await shut()
})
