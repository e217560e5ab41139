import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createManualClock } from '@muster/core/clock'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { openListener, type ListeningServer, type ListenerOptions } from './listener.js'
import { createLoadGuard } from './load-guard.js'

let listener: ListeningServer | undefined
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
  const bounds = () => ({ most: 100, perAddress: 50 })
  listener = await openListener({ host: '127.0.0.1', port: 0, onRequest: () => {}, bounds, ...options })
  const { port } = listener
  /** Opens a connection. Returns a function that sends a text and resolves with the response. */
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

test('requests of one connection start one after another, with other connections in between', async () => {
  const begun: string[] = []
  const send = await open({
    onRequest: ({ url = '' }, response) => {
      begun.push(url)
      response.end(`<${url}>`)
    },
  })
  const crowd = await send(requests(numbered(60)))
  const bystander = await send(requests(['/me']))
  await expect.poll(() => crowd.bodies(), { interval: 5 }).toEqual(numbered(60))
  await expect.poll(() => bystander.bodies(), { interval: 5 }).toEqual(['/me'])
  const pieces = await send(requests(numbered(30)) + requests(['/a', '/b'], 'POST'))
  await expect.poll(() => pieces.bodies(), { interval: 5 }).toEqual([...numbered(30), '/a', '/b'])
  expect(begun).toHaveLength(93)
})

test('each refused request with a body takes its own turn of the event loop', async () => {
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
  await expect.poll(() => bodies(), { interval: 5 }).toHaveLength(50)
  expect(new Set(turns).size).toBeGreaterThanOrEqual(49)
})

test('a request starts only after the previous request of its connection is answered', async () => {
  const taken: ServerResponse[] = []
  const send = await open({ onRequest: (_, response) => void taken.push(response) })
  const { bodies } = await send(requests(numbered(3)))
  for (let nth = 0; nth < 3; nth += 1) {
    await expect.poll(() => taken, { interval: 5 }).toHaveLength(nth + 1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toHaveLength(nth + 1)
    taken[nth]?.end(`<${nth}>`)
  }
  await expect.poll(() => bodies(), { interval: 5 }).toEqual(['0', '1', '2'])
})

test('a connection with too many waiting requests is ended, while other connections get their answers', async () => {
  const begun: string[] = []
  const send = await open({ onRequest: ({ url = '' }, response) => void (begun.push(url), response.end('<served>')) })
  const { socket } = await send(requests(numbered(500)))
  await once(socket, 'close')
  expect(begun.length).toBeLessThan(500)
  expect(listener?.connections().pipelinedEnded).toBe(1)
  const { bodies } = await send(requests(['/me']))
  await expect.poll(() => bodies(), { interval: 5 }).toEqual(['served'])
})

test('if a connection ends, its queued requests are dropped and do not count as lateness', async () => {
  const clock = createManualClock()
  const guard = createLoadGuard({ delayMs: () => 1000, onShed: () => {}, queuedMs: () => 0, clock })
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
  await expect.poll(() => begun, { interval: 5 }).toEqual(['/tickets'])
  await clock.advance(10_000)
  expect(guard.counts().lateMs).toBeGreaterThan(1000)
  socket.destroy()
  await expect.poll(() => closed, { interval: 5 }).toEqual(['/tickets'])
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['/tickets'])
  await clock.advance(10_000)
  expect(guard.counts().lateMs).toBe(0)
  guard.close()
})

test('no queued request of a paused connection is started', async () => {
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
  await expect.poll(() => rest, { interval: 5 }).toBeDefined()
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['/0'])
  rest?.()
  await expect.poll(() => bodies(), { interval: 5 }).toEqual(numbered(5))
})
