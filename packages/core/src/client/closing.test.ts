import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { Pool } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Clock, systemClock } from '../time.js'
import { ClientClosed } from './errors.js'
import { answer, serve } from './server.fixture.js'
import { tag, blue, type Handler, clientOf, setUp, failure, deferred } from './network.fixture.js'

describe('closing a client', () => {
  /** Creates a system clock that counts its sleepers. */
  function countedClock(): Clock & { sleepers: number } {
    const clock = {
      sleepers: 0,
      now: () => systemClock.now(),
      sleep: async (ms: number, signal?: AbortSignal) => {
        clock.sleepers += 1
        await systemClock.sleep(ms, signal).finally(() => (clock.sleepers -= 1))
      },
    }
    return clock
  }

  test('close of a client finishes its calls, refuses new calls, and leaves no connection or timer', async () => {
    const clock = countedClock()
    const arrived = deferred()
    const held: (() => void)[] = []
    const closed: Promise<unknown>[] = []
    const handler: Handler = (_, response, nth) => {
      if (nth === 1) closed.push(once(response.socket as NonNullable<typeof response.socket>, 'close'))
      if (nth > 1) return answer(response, 200, blue)
      held.push(() => answer(response, 200, blue))
      arrived.resolve()
    }
    const { server, client, create } = await setUp(handler, { clock, maxInFlight: 1, connections: 1 })
    const calls = [create(), create()]
    await arrived.promise

    let ended = false
    const closing = client.close().then(() => (ended = true))
    const error = await failure(create())
    expect(error).toBeInstanceOf(ClientClosed)
    expect(error).toMatchObject({ operation: 'tags.create', message: 'tags.create: the client is closed' })
    expect(ended).toBe(false)

    for (const release of held) release()
    await closing
    expect(await Promise.all(calls)).toEqual([blue, blue])
    await Promise.all(closed)
    expect(server.requests.length).toBe(2)
    expect(clock.sleepers).toBe(0)
    expect(await failure(client.tags.get(tag))).toBeInstanceOf(ClientClosed)
  })

  test('a client that was closed before any call refuses calls and sends nothing', async () => {
    const { server, client, read } = await setUp((_, response) => answer(response, 200, blue))
    await client.close()
    expect(await failure(read())).toBeInstanceOf(ClientClosed)
    expect(server.requests).toEqual([])
  })

  test('a second close of a client succeeds, as with `await using` after an explicit close', async () => {
    const { client, read } = await setUp((_, response) => answer(response, 200, blue))
    await read()
    await client[Symbol.asyncDispose]()
    expect(await failure(read())).toBeInstanceOf(ClientClosed)
    await Promise.all([client.close(), client.close()])
    await expect(client[Symbol.asyncDispose]()).resolves.toBeUndefined()
  })

  test('closing a client waits for a call that is between two attempts', async () => {
    const { client, read } = await setUp((_, response, nth) => answer(response, nth === 1 ? 503 : 200, blue), {
      retry: { baseMs: 20 },
    })
    const retried = deferred()
    client.events.on('retry', () => retried.resolve())
    const call = read()
    await retried.promise
    await client.close()
    await expect(call).resolves.toEqual(blue)
  })

  test('closing a client ends at once while a TLS handshake is never answered', async () => {
    const accepted = deferred()
    const sockets: Socket[] = []
    const silent = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      accepted.resolve()
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void silent.close())
    const { client } = clientOf(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const aborted = new AbortController()
    const call = failure(client.tags.get(tag, { signal: aborted.signal }))
    await accepted.promise
    const gone = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
    aborted.abort()
    await call
    const began = performance.now()
    await client.close()
    await gone
    expect(performance.now() - began).toBeLessThan(2000)
  })

  test('close of a client waits for at most timeoutMs, and each call’s error says whether it was sent', async () => {
    const arrived = deferred()
    const { client, read, create } = await setUp(() => arrived.resolve(), { maxInFlight: 1 })
    const calls = [failure(create()), failure(create())]
    await arrived.promise
    const began = performance.now()
    await client.close({ timeoutMs: 20 })
    expect(performance.now() - began).toBeLessThan(5000)
    expect(await Promise.all(calls)).toMatchObject([
      { name: 'ClientClosed', sent: true, message: 'tags.create: the client was closed before the answer came' },
      { name: 'ClientClosed', sent: false },
    ])
    await client.close({ timeoutMs: 0 })
    expect(await failure(read())).toMatchObject({ name: 'ClientClosed', sent: false })
  })

  test('a second close with a shorter timeoutMs ends the first close of the client', async () => {
    const arrived = deferred()
    const { client, create } = await setUp(() => arrived.resolve())
    const call = failure(create())
    await arrived.promise
    const patient = client.close({ timeoutMs: 60_000 })
    await client.close({ timeoutMs: 0 })
    await patient
    expect(await call).toBeInstanceOf(ClientClosed)
  })

  test.each([-1, Number.NaN, '5', 2 ** 31])('close of a client refuses timeoutMs %j', async (timeoutMs) => {
    const { client } = await setUp(() => {})
    await expect(client.close({ timeoutMs: timeoutMs as number })).rejects.toMatchObject({
      name: 'InvalidInput',
      field: 'timeoutMs',
    })
  })

  test('close of a client leaves an injected dispatcher open', async () => {
    const server = await serve((_, response) => answer(response, 200, blue))
    const dispatcher = new Pool(server.url)
    onTestFinished(() => dispatcher.close())
    const first = clientOf(server.url, { dispatcher })
    await first.read()
    await first.client.close()
    await expect(clientOf(server.url, { dispatcher }).read()).resolves.toEqual(blue)
  })
})
