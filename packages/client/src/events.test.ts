import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Answer } from './connection.js'
import { type EventSourceLike, followByEvents } from './events.js'

/** Opens a stream whose events the test sends. */
function setUp(answers: (path: string) => Answer = () => ({ status: 201, body: { token: 'st' } })) {
  const clock = createManualClock()
  const opened: {
    url: string
    emit: (type: string, data?: unknown) => void
    source: EventSourceLike & { readyState: number }
  }[] = []
  const sent: string[] = []
  const { send, close } = followByEvents(
    async ({ method, path }) => {
      sent.push(`${method} ${path}`)
      return answers(path)
    },
    'http://play.example/api/',
    (url) => {
      const listeners: [string, (event: { data?: unknown }) => void][] = []
      const source = {
        readyState: 1,
        addEventListener: (type: string, listener: (event: { data?: unknown }) => void) =>
          void listeners.push([type, listener]),
        close: () => void (source.readyState = 2),
      }
      const emit = (type: string, data?: unknown) => {
        for (const [wanted, listener] of listeners) if (wanted === type) listener({ data: JSON.stringify(data) })
      }
      opened.push({ url, emit, source })
      return source
    },
    clock,
  )
  const follow = (version: number, ticket = 't1', signal?: AbortSignal) =>
    send({ method: 'GET', path: `/tickets/${ticket}?wait=25&version=${version}`, signal })
  return { clock, opened, sent, follow, close }
}
const ticket = (version: number, status = 'SEARCHING') => ({ id: 't1', profile: 'duel', version, status })

test('every version of a ticket arrives by one event stream, which ends with the last version', async () => {
  const { follow, opened, sent, clock } = setUp()
  const first = follow(1)
  await clock.advance(0)
  expect(opened.map(({ url }) => url)).toEqual(['http://play.example/api/tickets/t1/events?token=st'])
  opened[0]?.emit('ticket', ticket(1))
  opened[0]?.emit('ticket', ticket(2))
  expect(await first).toEqual({ status: 200, body: ticket(2) })
  const second = follow(2)
  opened[0]?.emit('ticket', ticket(3, 'HOST_ASSIGNED'))
  expect(await second).toEqual({ status: 200, body: ticket(3, 'HOST_ASSIGNED') })
  expect(opened[0]?.source.readyState).toBe(2)
  expect(sent).toEqual(['POST /tickets/t1/stream-token'])
})

test('an event stream that begins with the version that the client knows stays open for the next version', async () => {
  const { follow, opened, clock } = setUp()
  let answer: Answer | undefined
  void follow(1).then((given) => (answer = given))
  await clock.advance(0)
  opened[0]?.emit('ticket', ticket(1))
  await clock.advance(1000)
  expect(answer).toBeUndefined()
  opened[0]?.emit('ticket', ticket(2))
  await clock.advance(0)
  expect(answer).toEqual({ status: 200, body: ticket(2) })
})

test('the last version of a ticket is not lost if the stream ends before the client reads it', async () => {
  const { follow, opened, clock } = setUp()
  const first = follow(1)
  await clock.advance(0)
  opened[0]?.emit('ticket', ticket(2))
  await first
  opened[0]?.emit('ticket', ticket(3, 'HOST_ASSIGNED'))
  expect(await follow(2)).toEqual({ status: 200, body: ticket(3, 'HOST_ASSIGNED') })
  expect(opened).toHaveLength(1)
})

test('a failing event stream counts as a lost answer, and a refused stream reopens with a new token', async () => {
  const { follow, opened, clock, sent } = setUp()
  const lost = follow(1)
  await clock.advance(0)
  opened[0]?.emit('error')
  expect(await lost).toEqual({ status: 0 })
  // The browser reconnects by itself and continues the same stream.
  const next = follow(1)
  await clock.advance(0)
  opened[0]?.emit('ticket', ticket(2))
  expect(await next).toMatchObject({ body: ticket(2) })
  const refused = follow(2)
  await clock.advance(0)
  opened[0]?.source.close()
  opened[0]?.emit('error')
  expect(await refused).toEqual({ status: 0 })
  void follow(2)
  await clock.advance(0)
  expect(opened).toHaveLength(2)
  expect(sent).toHaveLength(2)
})

test('an event stream that is silent for 35 s is checked by a request, since it may be dead', async () => {
  const { follow, clock, sent } = setUp((path) =>
    path.endsWith('token') ? { status: 201, body: { token: 'st' } } : { status: 200, body: ticket(1) },
  )
  const quiet = follow(1)
  await clock.advance(35_000)
  expect(await quiet).toEqual({ status: 200, body: ticket(1) })
  expect(sent).toEqual(['POST /tickets/t1/stream-token', 'GET /tickets/t1'])
})

test('no event stream stays open after an aborted wait, a change to another ticket or close', async () => {
  const { follow, opened, clock, close } = setUp()
  const ending = new AbortController()
  const given = follow(1, 't1', ending.signal)
  await clock.advance(0)
  ending.abort()
  expect(await given).toEqual({ status: 0 })
  void follow(1, 't2')
  await clock.advance(0)
  void follow(1, 't3')
  await clock.advance(0)
  close()
  expect(opened.map(({ source }) => source.readyState)).toEqual([2, 2, 2])
})

test('a ticket is followed by long polls if the platform refuses to open an event stream', async () => {
  const sent: string[] = []
  const { send } = followByEvents(
    async ({ method, path }) => {
      sent.push(`${method} ${path}`)
      return path.endsWith('/stream-token') ? { status: 201, body: { token: 'st' } } : { status: 200, body: ticket(2) }
    },
    '/api',
    () => {
      throw new SyntaxError('invalid URL')
    },
    createManualClock(),
  )
  const follow = () => send({ method: 'GET', path: '/tickets/t1?wait=25&version=1' })
  expect(await follow()).toEqual({ status: 0 })
  expect(await follow()).toEqual({ status: 200, body: ticket(2) })
  expect(sent).toEqual(['POST /tickets/t1/stream-token', 'GET /tickets/t1?wait=25&version=1'])
})

test('a wait ends with the refusal of its stream token, and an aborted wait opens no event stream', async () => {
  const { follow, opened } = setUp(() => ({ status: 404, body: { code: 'no-such-ticket' } }))
  expect(await follow(1)).toMatchObject({ status: 404 })
  const late = setUp()
  const ending = new AbortController()
  const given = late.follow(1, 't1', ending.signal)
  ending.abort()
  expect(await given).toEqual({ status: 0 })
  expect(opened).toHaveLength(0)
  expect(late.opened.every(({ source }) => source.readyState === 2)).toBe(true)
})

test('an event stream that has missed a version, or whose check fails, is replaced by a new one', async () => {
  let current: Answer = { status: 200, body: ticket(1) }
  const { follow, clock, opened } = setUp((path) =>
    path.endsWith('token') ? { status: 201, body: { token: 'st' } } : current,
  )
  const silence = async (version: number) => {
    const quiet = follow(version)
    await clock.advance(0)
    opened.at(-1)?.emit('ticket', ticket(version))
    await clock.advance(35_000)
    return quiet
  }
  await silence(1)
  expect(opened).toHaveLength(1)
  current = { status: 200, body: ticket(2) }
  expect(await silence(1)).toEqual(current)
  await silence(2)
  expect(opened.map(({ source }) => source.readyState)).toEqual([2, 1])
  current = { status: 0 }
  await silence(2)
  await silence(2)
  expect(opened.map(({ source }) => source.readyState)).toEqual([2, 2, 2])
})

test.each([
  ['stays silent for 35 s', 1, () => {}],
  [
    'is refused twice',
    2,
    ({ source, emit }: ReturnType<typeof setUp>['opened'][number]) => {
      source.close()
      emit('error')
    },
  ],
])('a ticket is followed by long polls once an event stream %s without its first event', async (_, times, act) => {
  const { follow, clock, opened, sent } = setUp((path) =>
    path.endsWith('token') ? { status: 201, body: { token: 'st' } } : { status: 200, body: ticket(1) },
  )
  for (let nth = 0; nth < times; nth += 1) {
    const followed = follow(1)
    await clock.advance(0)
    expect(opened).toHaveLength(nth + 1)
    for (const one of opened) act(one)
    await clock.advance(35_000)
    await followed
  }
  expect(await follow(1)).toEqual({ status: 200, body: ticket(1) })
  expect(sent.at(-1)).toBe('GET /tickets/t1?wait=25&version=1')
  expect(opened.map(({ source }) => source.readyState)).toEqual(Array(times).fill(2))
})
