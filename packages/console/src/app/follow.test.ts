import { describe, expect, test } from 'vitest'
import { manualClock } from './manual-clock.fixture.js'
import { follow, type FeedStatus } from './follow.js'

/** Starts a server that sends the test's responses one after another. */
function played() {
  const clock = manualClock()
  const seen: (FeedStatus | string)[] = []
  const requests: { readonly url: string; readonly token: string | null; readonly signal: AbortSignal }[] = []
  const answers: ((answer: Response | Error) => void)[] = []
  const stop = follow({
    url: '/console/api/feed',
    token: 'secret',
    clock,
    random: () => 1,
    fetch: (url, init) => {
      const signal = init?.signal as AbortSignal
      requests.push({ url: String(url), token: new Headers(init?.headers).get('authorization'), signal })
      return new Promise((resolve, reject) => {
        answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)))
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      })
    },
    hello: ({ name }) => seen.push(`hello ${name}`),
    now: ({ at }) => seen.push(`now ${at}`),
    step: ({ at }) => seen.push(`step ${at}`),
    connection: (state) => seen.push(state),
  })
  const stream = () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) })
    requests.at(-1)?.signal.addEventListener('abort', () => controller?.error(new Error('aborted')))
    const encoder = new TextEncoder()
    return {
      body,
      write: async (text: string) => {
        controller?.enqueue(encoder.encode(text))
        await settled()
      },
      end: async () => {
        controller?.close()
        await settled()
      },
    }
  }
  const answer = async (given: Response | Error) => {
    answers.shift()?.(given)
    await settled()
  }
  return { clock, seen, requests, answer, stream, stop }
}

/** Lets pending promise callbacks run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

const hello = 'event: hello\ndata: {"name":"my-game"}\n\n'

describe('the feed of the console', () => {
  test('the console feed is read with the token, and delivers its events in order', async () => {
    const { answer, stream, seen, requests, stop } = played()
    const { body, write } = stream()
    await answer(new Response(body))
    await write(`${hello}event: now\ndata: {"at":1}\n`)
    await write('\n: still here\n\nevent: step\ndata: {"at":2}\n\nevent: later\ndata: not JSON\n\n')
    expect(seen).toEqual(['connecting', 'live', 'hello my-game', 'now 1', 'step 2'])
    expect(requests.map(({ url, token }) => [url, token])).toEqual([['/console/api/feed', 'Bearer secret']])
    stop()
    expect(requests[0]?.signal.aborted).toBe(true)
  })

  test('the console feed is requested again when it ends, with growing pauses until an event arrives', async () => {
    const { answer, stream, seen, requests, clock } = played()
    const waits: number[] = []
    const next = async () => {
      const before = requests.length
      let waited = 0
      for (; requests.length === before; waited += 250) clock.advance(250)
      await settled()
      waits.push(waited)
    }
    for (const failure of [
      new Error('refused'),
      new Response('', { status: 503 }),
      new Error('refused'),
      new Error('refused'),
      new Error('refused'),
      new Error('refused'),
    ]) {
      await answer(failure)
      await next()
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000])
    const { body, write } = stream()
    await answer(new Response(body))
    await write(`${hello}event: bye\ndata: {}\n\n`)
    expect(seen.slice(-3)).toEqual(['live', 'hello my-game', 'away'])
    await next()
    expect(waits.at(-1)).toBe(500)
  })

  test('the console feed counts as disconnected when it is silent', async () => {
    const { answer, stream, seen, requests, clock } = played()
    const { body, write } = stream()
    await answer(new Response(body))
    await write(hello)
    clock.advance(5000)
    await write(': still here\n\n')
    clock.advance(5999)
    await settled()
    expect(requests[0]?.signal.aborted).toBe(false)
    clock.advance(1)
    await settled()
    expect(requests[0]?.signal.aborted).toBe(true)
    expect(seen).toEqual(['connecting', 'live', 'hello my-game', 'away'])
  })

  test.each([401, 403])('the console feed is not requested again after status %d', async (status) => {
    const { answer, seen, requests, clock } = played()
    await answer(new Response('', { status }))
    clock.advance(60_000)
    expect([seen, requests.length]).toEqual([['connecting', 'refused'], 1])
  })

  test('the console feed leaves no timer and no request when it is stopped', async () => {
    const { answer, clock, stop, requests } = played()
    await answer(new Error('refused'))
    expect(clock.waiting()).toBe(1)
    stop()
    expect(clock.waiting()).toBe(0)
    clock.advance(60_000)
    expect(requests).toHaveLength(1)
  })
})
