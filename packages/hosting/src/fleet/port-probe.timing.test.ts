import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createNetworkProber, networkProber, type ProbeTarget } from './port-probe.js'

const target = (kind: 'tcp' | 'udp', port: number): ProbeTarget => ({
  kind,
  host: '127.0.0.1',
  port,
  payload: 'hello?',
})
const unheard = () => new AbortController().signal

test('an accepted TCP connection answers a port probe, a closed port does not', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect(await networkProber(target('tcp', port), unheard())).toBe(true)
  server.close()
  await once(server, 'close')
  expect(await networkProber(target('tcp', port), unheard())).toBe(false)
})

test('any UDP datagram sent back answers a port probe', async () => {
  const server = createSocket('udp4')
  const heard: string[] = []
  server.on('message', (message, from) => {
    heard.push(message.toString())
    server.send('?', from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  expect(await networkProber(target('udp', port), unheard())).toBe(true)
  expect(heard).toEqual(['hello?'])
  server.close()
  await once(server, 'close')
  // The operating system reports that the port is closed.
  expect(await networkProber(target('udp', port), unheard())).toBe(false)
})

test('a port probe without an answer lasts until it is aborted, before or during an attempt', async () => {
  const server = createSocket('udp4')
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const ending = new AbortController()
  server.once('message', () => ending.abort())
  expect(await networkProber(target('udp', port), ending.signal)).toBe(false)
  expect(await networkProber(target('udp', port), ending.signal)).toBe(false)
  expect(await networkProber(target('tcp', port), ending.signal)).toBe(false)
  server.close()
})

test('a port probe of an unknown host gets no answer', async () => {
  const nowhere = { host: 'nowhere.invalid', port: 9, payload: '?' }
  expect(await networkProber({ kind: 'tcp', ...nowhere }, unheard())).toBe(false)
  expect(await networkProber({ kind: 'udp', ...nowhere }, unheard())).toBe(false)
})

test.each([
  ['udp4', '127.0.0.1', 'both'],
  ['udp6', '::1', 'both'],
  ['udp4', '127.0.0.1', 4],
  ['udp6', '::1', 6],
] as const)('a UDP probe reaches a host name whose server is at %s %s, if the name has %s', async (type, at, has) => {
  const server = createSocket(type)
  server.on('message', (_, from) => server.send('?', from.port, from.address))
  server.bind(0, at)
  await once(server, 'listening')
  const probe = createNetworkProber((host, family, found) => {
    if (host !== 'game.example') return lookup(host, family, found)
    if (has !== 'both' && has !== family) return found(new Error(`ENOTFOUND ${host}`), '', family)
    found(null, family === 6 ? '::1' : '127.0.0.1', family)
  })
  const { port } = server.address()
  expect(await probe({ ...target('udp', port), host: 'game.example' }, unheard())).toBe(true)
  server.close()
  await once(server, 'close')
  expect(await probe({ ...target('udp', port), host: 'game.example' }, unheard())).toBe(false)
})
