import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { openListener, type ListeningServer, type ListenerOptions } from './listener.js'

/** A busy machine takes its time. */

let listener: ListeningServer | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  listener?.destroy()
  await listener?.close()
})

async function open(options: Partial<ListenerOptions> = {}) {
  listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    onRequest: (_, response) => response.end('served'),
    bounds: () => ({ most: 100, perAddress: 50 }),
    ...options,
  })
  const { port } = listener
  /** Opens a connection that sends a text. Resolves with everything that it receives until it ends. */
  return async (text: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (text !== '') socket.write(text)
    return {
      socket,
      ended: (async () => {
        let answer = ''
        socket.on('data', (chunk) => (answer += String(chunk)))
        await once(socket, 'close')
        return answer
      })(),
    }
  }
}

describe('a misbehaving connection', () => {
  test.each([
    ['it sends nothing', ''],
    ['it does not finish its headers', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
  ])('the listener ends a connection that is too slow, because %s', async (_, text) => {
    const send = await open({ headersTimeoutMs: 200 })
    const { ended } = await send(text)
    expect(await ended).toMatch(/^(HTTP\/1\.1 408 .*)?/)
  })

  test('a connection with too large headers is ended', async () => {
    const send = await open()
    const { ended } = await send(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(await ended).toContain('HTTP/1.1 431')
  })

  test('beyond the limit of an address new connections are ended, until an earlier connection has ended', async () => {
    const send = await open({ bounds: () => ({ most: 100, perAddress: 2 }) })
    const [first] = [await send(''), await send('')]
    const third = await send('')
    expect(await third.ended).toBe('')
    first?.socket.destroy()
    await first?.ended
    const next = await send('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(await next.ended).toContain('served')
  })
})

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

test.skipIf(process.platform !== 'linux')(
  'connections kept open by 30 addresses do not keep another address from its answers',
  async () => {
    const told: number[] = []
    const send = await open({
      bounds: () => ({ most: 60, perAddress: 20 }),
      freshMs: 0,
      onCrowded: ({ idleEnded }) => told.push(idleEnded),
    })
    for (let index = 0; index < 300; index += 1) {
      await send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', `127.0.0.${2 + (index % 30)}`)
      if (index % 10 !== 0) continue
      const bystander = await send(GET)
      expect(await bystander.ended).toContain('served')
    }
    expect(listener?.connections().open).toBeLessThanOrEqual(60)
    expect(told).toHaveLength(1)
  },
)

test('beyond the connection limit a different answer is given if no connection is idle', async () => {
  const begun: (() => void)[] = []
  const send = await open({
    bounds: () => ({ most: 2, perAddress: undefined }),
    beyond: 2,
    onRequest: (_, response) => void begun.push(() => response.end('served')),
    onRequestBeyond: (_, response) => response.end('operated'),
  })
  const waiting = [await send(GET), await send(GET)]
  await expect.poll(() => begun, { interval: 5 }).toHaveLength(2)
  expect(await (await send(GET)).ended).toContain('operated')
  for (const answer of begun) answer()
  for (const { ended } of waiting) expect(await ended).toContain('served')
})

test('opening a listener at a taken port rejects with EADDRINUSE', async () => {
  await open()
  const again = openListener({
    host: '127.0.0.1',
    port: listener?.port ?? 0,
    onRequest: () => {},
    bounds: () => ({ most: 1, perAddress: undefined }),
  })
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('connections that arrive faster than event loop turns wait, and the wait is measured', async () => {
  let now = 0
  const send = await open({ clock: { now: () => now, sleep: async () => {} } })
  const answers = Array.from({ length: 8 }, async () => (await send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).socket)
  let longest = 0
  while (listener?.connections().open !== answers.length) {
    await new Promise(setImmediate)
    now += 10
    longest = Math.max(longest, listener?.queuedMs() ?? 0)
  }
  expect(longest).toBeGreaterThanOrEqual(30)
  for (let turns = 0; turns < 3; turns += 1) await new Promise(setImmediate)
  expect(listener.queuedMs()).toBe(0)
  await Promise.all(answers)
})
