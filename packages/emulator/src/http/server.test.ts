import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { createManualClock } from '@muster/core/clock'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEmulator, type Emulator } from '../emulator.js'
import type { Listening } from './server.js'

let emulator: Emulator
let listening: Listening
const headers = { authorization: 'token dev' }

beforeEach(async () => {
  emulator = createEmulator({ limits: false, maxBodyBytes: 1000 })
  listening = await emulator.listen()
})
afterEach(() => emulator.close())

async function opened(url = listening.url): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket.setEncoding('utf8')
}

const requestTo = (target: string) => `GET ${target} HTTP/1.1\r\nhost: localhost\r\nauthorization: token dev\r\n\r\n`

test('answers over HTTP equal those through emulator.fetch', async () => {
  expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const created = await fetch(`${listening.url}/v1/app`, { method: 'POST', headers, body: '{"name":"arena"}' })
  expect([created.status, created.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(await created.json()).toMatchObject({ name: 'arena' })
  const gone = await fetch(`${listening.url}/v1/app/arena`, { method: 'DELETE', headers })
  expect([gone.status, gone.headers.get('content-length'), await gone.text()]).toEqual([204, null, ''])
})

test('an idle connection to the emulator is kept for 65 s, longer than busy clients pause', async () => {
  const [response] = (await once(
    get(`${listening.url}/v1/app`, { headers, agent: new Agent({ keepAlive: true }) }),
    'response',
  )) as [IncomingMessage]
  response.resume()
  expect(response.headers['keep-alive']).toBe('timeout=65')
})

test('the content length of non-ASCII text is counted in bytes', async () => {
  await fetch(`${listening.url}/v1/fleet`, { method: 'POST', headers, body: JSON.stringify({ name: 'Flotte größer' }) })
  const read = await fetch(`${listening.url}/v1/fleet/${encodeURIComponent('Flotte größer')}`, { headers })
  expect(await read.json()).toMatchObject({ name: 'Flotte größer' })
})

test('one connection to the emulator carries many requests', async () => {
  const socket = await opened()
  for (let request = 0; request < 3; request++) {
    socket.write(requestTo('/v1/apps'))
    const [text] = (await once(socket, 'data')) as [string]
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(text).toMatch(/connection: keep-alive/i)
  }
  socket.destroy()
})

test('a body that is too large is answered with 413, and ends the connection', async () => {
  const answer = await fetch(`${listening.url}/v1/app`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'arena', image: 'QUFB'.repeat(500) }),
  })
  expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close'])
})

/** Sends a raw request. Returns the status line and everything else that arrives until the connection ends. */
async function raw(url: string, request: string): Promise<string> {
  const socket = await opened(url)
  let text = ''
  socket.on('data', (part: string) => (text += part))
  socket.write(request)
  await once(socket, 'close')
  return text
}

test('an unknown Host header is refused by the emulator page and operations, before any other check', async () => {
  for (const host of [
    'host: evil.example\r\n',
    `host: evil.example:${new URL(listening.url).port}\r\n`,
    'host: 127.0.0.1.evil.example\r\n',
  ]) {
    for (const target of ['/_emulator', '/_emulator/state', '/v1/apps', '/', 'http://127.0.0.1/v1/apps']) {
      const answer = await raw(listening.url, `GET ${target} HTTP/1.1\r\n${host}authorization: token dev\r\n\r\n`)
      expect(answer).toMatch(
        /^HTTP\/1\.1 421 Misdirected Request\r\n[^]*connection: close\r\n[^]*this Host is not served/i,
      )
      expect(answer).not.toContain('evil')
    }
  }
  expect(await raw(listening.url, 'GET /v1/apps HTTP/1.0\r\nauthorization: token dev\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 421 /,
  )
  const body = '{"name":"arena"}'
  const headers = `host: evil.example\r\nauthorization: token dev\r\ncontent-length: ${body.length}`
  const post = `POST /v1/app HTTP/1.1\r\n${headers}\r\n\r\n${body}`
  expect(await raw(listening.url, post)).toMatch(/^HTTP\/1\.1 421 /)
  expect(emulator.inspect().applications).toEqual([])
  expect(emulator.counters).toMatchObject({ requests: {}, unrouted: 0 })
})

test('listen can allow further names in the Host header', async () => {
  const { url } = await emulator.listen({ host: 'localhost', allowedHosts: ['emulator'] })
  const port = Number(new URL(url).port)
  const answered = await new Promise<number | undefined>((resolve, reject) => {
    get({ host: 'localhost', port, path: '/v1/apps', headers: { ...headers, host: `emulator:${port}` } })
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
  })
  expect(answered).toBe(200)
  await expect(emulator.listen({ allowedHosts: ['http://emulator'] })).rejects.toThrow(
    'allowedHosts must be host names',
  )
})

test('closing the emulator ends idle connections', async () => {
  const socket = await opened()
  socket.write(requestTo('/v1/apps'))
  await once(socket, 'data')
  const closed = once(socket, 'close')
  await listening.close()
  await closed
  await expect(fetch(listening.url)).rejects.toThrow('fetch failed')
})

/** Starts a server on a manual clock that has received a request and delays its response. */
async function heldUp(request: string) {
  const clock = createManualClock()
  const slow = createEmulator({ clock, faults: [{ operation: '*', delayMs: 50 }] })
  const { url, close } = await slow.listen()
  const socket = await opened(url)
  socket.on('error', () => {})
  socket.write(request)
  while (clock.sleepers === 0) await new Promise(setImmediate)
  return { clock, close, socket, url }
}

test('closing the emulator lets answers in progress arrive', async () => {
  const { clock, close, socket } = await heldUp(requestTo('/v1/apps'))
  const answer = once(socket, 'data')
  const closed = close()
  await clock.advance(50)
  expect((await answer)[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n/i)
  await closed
})

test('closing the emulator ends connections with an incomplete request', async () => {
  const { close, socket } = await heldUp(
    'POST /v1/app HTTP/1.1\r\nhost: localhost\r\nauthorization: token dev\r\ncontent-length: 100\r\n\r\n{"name"',
  )
  const closed = once(socket, 'close')
  await close()
  await closed
  expect(socket.bytesRead).toBe(0)
})

test('a client that disconnected before its answer does not delay closing the emulator', async () => {
  const { clock, close, socket, url } = await heldUp(requestTo('/v1/apps'))
  socket.destroy()
  // Later requests are answered only after the server has processed the end of the earlier connection.
  for (let later = 0; later < 3; later++) expect((await fetch(`${url}/none`)).status).toBe(404)
  const closed = close()
  await clock.advance(50)
  await closed
  expect(clock.sleepers).toBe(0)
})

test('an emulator can listen on two ports, which show the same data', async () => {
  const other = await emulator.listen({ host: '::1' })
  expect(other.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
  await fetch(`${listening.url}/v1/app`, { method: 'POST', headers, body: '{"name":"arena"}' })
  expect((await fetch(`${other.url}/v1/app/arena`, { headers })).status).toBe(200)
})

test('listening at a port in use is an error', async () => {
  await expect(emulator.listen({ port: Number(new URL(listening.url).port) })).rejects.toThrow('EADDRINUSE')
})
