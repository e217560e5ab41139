import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ByteBuffer, IncomingBody, incomingBody } from './incoming-body.js'
import { listen, untilSo } from './raw-client.fixture.js'

/** Sends the beginning of a request, and returns its body before a server has read it. */
async function receive(head: string) {
  let message: IncomingMessage | undefined
  let body: IncomingBody | undefined
  const server = createServer((incoming, response) => {
    message = incoming
    const begun = incomingBody(incoming, response)
    if (begun instanceof IncomingBody) body = begun
  })
  const { port } = await listen(server)
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`${head}\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`)
  await untilSo('a request', () => message !== undefined)
  return { message: message as unknown as IncomingMessage, body: body as IncomingBody | undefined, socket }
}

const PIECES = 100_000
const endlessly = '1\r\nx\r\n'.repeat(PIECES)
const unwatched = { unfinished: () => {}, over: () => {} }

test('an incoming body gathers tiny pieces in one buffer', async () => {
  const { message, body, socket } = await receive('POST / HTTP/1.1')
  body?.gather(1_000_000, unwatched)
  socket.write(endlessly)
  await untilSo('all of it', () => (body?.size ?? 0) === PIECES)
  expect(body?.capacity).toBeLessThanOrEqual(2 * PIECES)
  expect(message.readableLength).toBe(0)
  socket.write('0\r\n\r\n')
  expect((await body?.whole())?.byteLength).toBe(PIECES)
})

test('an incoming body keeps bytes up to its limit, and drops further bytes', async () => {
  const { message, body, socket } = await receive('POST / HTTP/1.1')
  let isOver = false
  body?.gather(1000, { ...unwatched, over: () => (isOver = true) })
  socket.write(endlessly)
  await untilSo('its end', () => isOver)
  expect(body?.capacity).toBe(0)
  await expect(body?.whole()).rejects.toMatchObject({ status: 413 })
  socket.write('0\r\n\r\n')
  await untilSo('the end of the message', () => message.complete)
  expect([body?.capacity, message.readableLength]).toEqual([0, 0])
})

test('an incoming body read as a stream comes in few pieces, and loses nothing between two reads', async () => {
  const { body, socket } = await receive('POST / HTTP/1.1')
  socket.write(endlessly)
  socket.write('0\r\n\r\n')
  await untilSo('a part', () => (body?.size ?? 0) > 64 * 1024)
  let [size, reads] = [0, 0]
  for await (const piece of (body as IncomingBody).stream()) {
    size += piece.byteLength
    reads += 1
    // The reader does other work between two reads.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(size).toBe(PIECES)
  expect(reads).toBeLessThan(PIECES / 100)
})

test.each(['GET', 'HEAD'])('the body of a %s request is dropped as it arrives', async (method) => {
  const { message, body, socket } = await receive(`${method} / HTTP/1.1`)
  expect(body).toBeUndefined()
  socket.write(endlessly)
  socket.write('0\r\n\r\n')
  await untilSo('its end', () => message.complete)
  expect(message.readableLength).toBe(0)
})

describe('a byte buffer', () => {
  test('a byte buffer holds all bytes received, with a capacity below twice their number', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 60 }), (pieces) => {
        const buffer = new ByteBuffer()
        for (const piece of pieces) {
          buffer.append(piece)
          expect(buffer.capacity).toBeLessThanOrEqual(Math.max(256, 2 * buffer.size))
        }
        const all = Buffer.concat(pieces)
        expect(buffer.size).toBe(all.byteLength)
        expect(Buffer.from(buffer.drain())).toEqual(all)
        expect([buffer.size, buffer.capacity]).toEqual([0, 0])
      }),
      // Only a few runs, to save time. `pnpm fuzz` runs more.
      { numRuns: 30 },
    )
  })

  test('a byte buffer does not change if a piece is changed later', () => {
    const buffer = new ByteBuffer()
    const piece = Uint8Array.of(1, 2)
    buffer.append(piece)
    piece.fill(9)
    expect([...buffer.drain()]).toEqual([1, 2])
  })
})
