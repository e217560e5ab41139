import { describe, expect, test, vi } from 'vitest'
import { createManualClock } from '../time.js'
import { eventStream, longPoll, type StreamEvent } from './long-answers.js'

describe('an event stream', () => {
  /** Creates a source whose events the test adds. */
  function feed() {
    const waiting: ((result: IteratorResult<StreamEvent>) => void)[] = []
    const state = { asked: 0, signal: undefined as AbortSignal | undefined }
    const source = (signal: AbortSignal): AsyncIterable<StreamEvent> => {
      state.signal = signal
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            state.asked += 1
            return new Promise((resolve, reject) => {
              waiting.push(resolve)
              signal.addEventListener('abort', () => reject(signal.reason), { once: true })
            })
          },
        }),
      }
    }
    return {
      state,
      source,
      give: (value: StreamEvent) => waiting.shift()?.({ done: false, value }),
      end: () => waiting.shift()?.({ done: true, value: undefined }),
    }
  }

  const open = (request = new AbortController()) => {
    const clock = createManualClock()
    const { source, ...fed } = feed()
    const response = eventStream(source, { clock, signal: request.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const read = async () => {
      const { done, value } = await reader.read()
      return done ? 'the end' : new TextDecoder().decode(value)
    }
    return { clock, response, reader, read, request, ...fed }
  }

  test('an event stream writes events as lines in order, and ends with its source', async () => {
    const { response, read, give, end, clock } = open()
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await read()).toBe('retry: 2000\n\n')
    const first = read()
    await clock.advance(0)
    give({ id: '7', event: 'member.joined', data: { name: 'a\nb' } })
    expect(await first).toBe('id: 7\nevent: member.joined\ndata: {"name":"a\\nb"}\n\n')
    await clock.advance(0)
    give({ event: 'x', data: null })
    expect(await read()).toBe('event: x\ndata: null\n\n')
    await clock.advance(0)
    give({ event: 'y', json: '{"made":"once"}' })
    expect(await read()).toBe('event: y\ndata: {"made":"once"}\n\n')
    await clock.advance(0)
    end()
    expect(await read()).toBe('the end')
    expect(clock.sleepers).toBe(0)
  })

  test('an event stream keeps a silent connection open by comments, and loses no event', async () => {
    const { read, give, clock } = open()
    await read()
    const comment = read()
    await clock.advance(15_000)
    expect(await comment).toBe(': still here\n\n')
    const event = read()
    await clock.advance(0)
    give({ event: 'x', data: 1 })
    expect(await event).toBe('event: x\ndata: 1\n\n')
  })

  test('an event stream sends an event at once that came between a comment and the next read', async () => {
    const { clock, read, give } = open()
    await read()
    await clock.advance(20_000)
    give({ event: 'x' })
    await clock.advance(0)
    expect(await read()).toBe(': still here\n\n')
    expect(await read()).toBe('event: x\ndata: undefined\n\n')
  })

  test('an event stream adds no listener with each comment, because listeners of a silent stream stay', async () => {
    const clock = createManualClock()
    const silence = new Promise<never>(() => {})
    const listening = vi.spyOn(silence, 'then')
    const source = () => ({ [Symbol.asyncIterator]: () => ({ next: () => silence }) })
    const response = eventStream(source, { clock, signal: new AbortController().signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    for (let count = 0; count < 20; count += 1) {
      await clock.advance(15_000)
      await reader.read()
    }
    expect(listening).toHaveBeenCalledTimes(1)
    await reader.cancel()
  })

  test('an event stream asks its source for nothing while the client reads nothing', async () => {
    const { state, give, clock } = open()
    await clock.advance(0)
    expect(state.asked).toBe(0)
    give({ event: 'x', data: 1 })
    await clock.advance(60_000)
    expect(state.asked).toBe(0)
  })

  test.each(['the client', 'the request'])('an event stream ends its source when %s disconnects', async (who) => {
    const { read, reader, request, state, clock } = open()
    await read()
    const pending = read()
    await clock.advance(0)
    if (who === 'the client') await reader.cancel()
    else request.abort(new Error('gone'))
    expect(await pending).toBe('the end')
    expect(state.signal?.aborted).toBe(true)
  })

  test('an event stream breaks off at an error of its source', async () => {
    const failing = async function* (): AsyncGenerator<StreamEvent> {
      yield { event: 'x', data: 1 }
      throw new Error('no')
    }
    const response = eventStream(failing, { clock: createManualClock(), signal: new AbortController().signal })
    await expect(response.text()).rejects.toThrow('no')
  })

  test('an event stream lets a generator between two events clean up when the client disconnects', async () => {
    const clock = createManualClock()
    let cleaned = false
    const source = async function* (): AsyncGenerator<StreamEvent> {
      try {
        for (;;) yield { event: 'x', data: 1 }
      } finally {
        cleaned = true
      }
    }
    const reader = (
      eventStream(source, { clock, signal: new AbortController().signal }).body as ReadableStream<Uint8Array>
    ).getReader()
    await reader.read()
    await reader.read()
    await clock.advance(0)
    expect(cleaned).toBe(false)
    await reader.cancel()
    await clock.advance(0)
    expect(cleaned).toBe(true)
    expect(clock.sleepers).toBe(0)
  })

  test('an event stream lets a source clean up whose client disconnected before the stream was created', async () => {
    let cleaned = 0
    const source = async function* (): AsyncGenerator<StreamEvent> {
      try {
        yield { event: 'x', data: 1 }
      } finally {
        cleaned += 1
      }
    }
    const response = eventStream(source, { clock: createManualClock(), signal: AbortSignal.abort() })
    await response.body?.cancel()
    await new Promise((resolve) => setImmediate(resolve))
    expect(cleaned).toBe(1)
  })

  test.each(['the end', 'an error', 'a reader that disconnects'])(
    'an event stream removes its listeners from the signal after %s',
    async (how) => {
      const listeners = new Set<unknown>()
      const { signal } = new AbortController()
      const add = signal.addEventListener.bind(signal)
      const remove = signal.removeEventListener.bind(signal)
      signal.addEventListener = (type: string, listener: Parameters<typeof add>[1]) => {
        listeners.add(listener)
        add(type, listener)
      }
      signal.removeEventListener = (type: string, listener: Parameters<typeof add>[1]) => {
        listeners.delete(listener)
        remove(type, listener)
      }
      const source = async function* (): AsyncGenerator<StreamEvent> {
        yield { event: 'x', data: 1 }
        if (how === 'an error') throw new Error('broken')
      }
      const { body } = eventStream(source, { clock: createManualClock(), signal })
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      expect(listeners.size).toBe(1)
      if (how === 'a reader that disconnects') await reader.cancel()
      else while (!(await reader.read().catch(() => ({ done: true }))).done);
      expect(listeners.size).toBe(0)
    },
  )

  test('an event stream ends for the client when its source ends, and leaves nothing behind', async () => {
    const clock = createManualClock()
    const request = new AbortController()
    let end = () => {}
    const response = eventStream(
      async function* (signal, over) {
        end = over
        yield { event: 'x', data: 1 }
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
      { clock, signal: request.signal },
    )
    const text = response.text()
    await clock.advance(1000)
    end()
    expect(await text).toBe('retry: 2000\n\nevent: x\ndata: 1\n\n')
    expect([clock.sleepers, request.signal.aborted]).toEqual([0, false])
  })
})

describe('a long poll', () => {
  function setUp() {
    const clock = createManualClock()
    const listeners = new Set<() => void>()
    const state = { news: undefined as string | undefined, reads: 0 }
    const poll = (waitMs: number, signal?: AbortSignal) =>
      longPoll({
        read: async () => {
          state.reads += 1
          return state.news
        },
        subscribe: (changed) => {
          listeners.add(changed)
          return () => listeners.delete(changed)
        },
        waitMs,
        clock,
        signal,
      })
    const change = (news: string | undefined) => {
      state.news = news
      for (const changed of listeners) changed()
    }
    return { clock, state, listeners, poll, change }
  }

  test('a long poll returns available changes at once', async () => {
    const { state, poll, listeners } = setUp()
    state.news = 'new'
    expect(await poll(1000)).toBe('new')
    expect(listeners.size).toBe(0)
  })

  test('a long poll waits on after a change for which its read function returns nothing', async () => {
    const { clock, poll, change, state } = setUp()
    const polling = poll(1000)
    await clock.advance(100)
    change(undefined)
    await clock.advance(100)
    change('new')
    expect(await polling).toBe('new')
    expect(state.reads).toBe(3)
    expect(clock.sleepers).toBe(0)
  })

  test('a long poll returns nothing when its time is over without a change', async () => {
    const { clock, poll, listeners } = setUp()
    const polling = poll(1000)
    await clock.advance(1000)
    expect(await polling).toBeUndefined()
    expect(listeners.size).toBe(0)
    expect(await poll(0)).toBeUndefined()
  })

  test('a long poll does not miss a change that happens during its read', async () => {
    const clock = createManualClock()
    let changed = () => {}
    let reads = 0
    const news = await longPoll({
      read: async () => {
        reads += 1
        if (reads > 1) return 'new'
        changed()
        return undefined
      },
      subscribe: (listener) => {
        changed = listener
        return () => {}
      },
      waitMs: 0,
      clock,
    })
    expect(news).toBe('new')
  })

  test('a long poll ends on an abort and leaves no listener', async () => {
    const { clock, poll, listeners } = setUp()
    const leaving = new AbortController()
    const polling = poll(1000, leaving.signal)
    await clock.advance(10)
    leaving.abort(new Error('gone'))
    await expect(polling).rejects.toThrow('gone')
    expect(listeners.size).toBe(0)
    expect(clock.sleepers).toBe(0)
    await expect(poll(1000, leaving.signal)).rejects.toThrow('gone')
  })

  test('a long poll ends on an abort during a read', async () => {
    const clock = createManualClock()
    const leaving = new AbortController()
    const read = async () => {
      leaving.abort(new Error('gone'))
      return undefined
    }
    const polling = longPoll({ read, subscribe: () => () => {}, waitMs: 60_000, clock, signal: leaving.signal })
    await expect(Promise.race([polling, clock.advance(0)])).rejects.toThrow('gone')
    expect(clock.sleepers).toBe(0)
  })
})
