import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { systemClock } from '@muster/core/clock'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { openListener, type Listener, type ListenerOptions } from './listener.js'
import { createLoadGuard } from './load-guard.js'

/** A busy machine takes its time. */
const PATIENT = { timeout: 30_000, interval: 5 }

let listener: Listener | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  listener?.destroy()
  await listener?.close()
})

const requests = (paths: readonly string[], method = 'GET') =>
  paths.map((path) => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\ncontent-length: 0\r\n\r\n`).join('')
const numbered = (count: number) => Array.from({ length: count }, (_, nth) => `/${nth}`)

async function open(options: Partial<ListenerOptions>) {
  const bounds = { mostConnections: 100, mostPerAddress: 50 }
  listener = await openListener({ host: '127.0.0.1', port: 0, onRequest: () => {}, ...bounds, ...options })
  const { port } = listener
  /** A connection, and what it is answered. */
  return async (text: string) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    let answer = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => (answer += String(chunk)))
    await once(socket, 'connect')
    socket.write(text)
    return { socket, bodies: () => Array.from(answer.matchAll(/\r\n\r\n<(.*?)>/g), ([, body]) => body) }
  }
}

test('requests of a connection are begun one after another, and others come between them', async () => {
  const begun: string[] = []
  const send = await open({
    onRequest: ({ url = '' }, response) => {
      begun.push(url)
      response.end(`<${url}>`)
    },
  })
  const crowd = await send(requests(numbered(60)))
  const bystander = await send(requests(['/me']))
  await vi.waitFor(() => expect(crowd.bodies()).toEqual(numbered(60)), PATIENT)
  await vi.waitFor(() => expect(bystander.bodies()).toEqual(['/me']), PATIENT)
  const pieces = await send(requests(numbered(30)) + requests(['/a', '/b'], 'POST'))
  await vi.waitFor(() => expect(pieces.bodies()).toEqual([...numbered(30), '/a', '/b']), PATIENT)
  expect(begun).toHaveLength(93)
})

test('of requests with a body that are refused at once, each takes a turn of the event loop', async () => {
  let turn = 0
  const counting = () => {
    turn += 1
    immediate = setImmediate(counting)
  }
  let immediate = setImmediate(counting)
  onTestFinished(() => clearImmediate(immediate))
  const turns: number[] = []
  const send = await open({
    onRequest: (_, response) => {
      turns.push(turn)
      response.end('<refused>')
    },
  })
  const post = 'POST / HTTP/1.1\r\nHost: localhost\r\ncontent-length: 9\r\n\r\n{"a":"b"}'
  const { bodies } = await send(post.repeat(50))
  await vi.waitFor(() => expect(bodies()).toHaveLength(50), PATIENT)
  expect(new Set(turns).size).toBeGreaterThanOrEqual(49)
})

test('no request is begun before the one before it is answered', async () => {
  const taken: ServerResponse[] = []
  const send = await open({ onRequest: (_, response) => void taken.push(response) })
  const { bodies } = await send(requests(numbered(3)))
  for (let nth = 0; nth < 3; nth += 1) {
    await vi.waitFor(() => expect(taken).toHaveLength(nth + 1), PATIENT)
    await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toHaveLength(nth + 1)
    taken[nth]?.end(`<${nth}>`)
  }
  await vi.waitFor(() => expect(bodies()).toEqual(['0', '1', '2']), PATIENT)
})

test('a connection is ended on which more requests wait than may, and the others are answered', async () => {
  const begun: string[] = []
  const send = await open({ onRequest: ({ url = '' }, response) => void (begun.push(url), response.end('<served>')) })
  const { socket } = await send(requests(numbered(500)))
  await once(socket, 'close')
  expect(begun.length).toBeLessThan(500)
  expect(listener?.connections().pipelinedEnded).toBe(1)
  const { bodies } = await send(requests(['/me']))
  await vi.waitFor(() => expect(bodies()).toEqual(['served']), PATIENT)
})

test('a connection that ends takes its waiting requests with it, and the process does not count as late', async () => {
  const guard = createLoadGuard({ delayMs: () => 1000, onShed: () => {}, queuedMs: () => 0, clock: systemClock })
  const closed: string[] = []
  const begun: string[] = []
  const send = await open({
    onRequest: (message, response) => {
      const { url = '' } = message
      begun.push(url)
      expect(guard.admits(message, response)).toBe(true)
      response.once('close', () => closed.push(url))
    },
  })
  const { socket } = await send(requests(['/tickets', '/backfills', '/matches'], 'POST'))
  await vi.waitFor(() => expect(begun).not.toEqual([]), PATIENT)
  socket.destroy()
  await vi.waitFor(() => expect(closed).toEqual(begun), PATIENT)
  guard.close()
})

test('while a connection is paused none of its requests is begun', async () => {
  let rest: (() => void) | undefined
  const begun: string[] = []
  const send = await open({
    onRequest: ({ url = '', socket }, response) => {
      begun.push(url)
      response.once('finish', () => {
        if (rest !== undefined) return
        rest = () => socket.resume()
        setImmediate(() => void socket.pause())
      })
      response.end(`<${url}>`)
    },
  })
  const { bodies } = await send(requests(numbered(5)))
  await vi.waitFor(() => expect(rest).toBeDefined(), PATIENT)
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['/0'])
  rest?.()
  await vi.waitFor(() => expect(bodies()).toEqual(numbered(5)), PATIENT)
})
