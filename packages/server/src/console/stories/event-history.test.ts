import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEventHistory } from './event-history.js'
import type { EventStore } from '../event-store.js'

interface Event {
  readonly at: number
  readonly id: string
}
const event = (at: number, id = `${at}`): Event => ({ at, id })

/** Creates a folder whose texts outlive processes: each process reads what earlier ones have appended. */
function keptTexts() {
  const kept: string[] = []
  let fails = false
  const open = (): EventStore => {
    const before = kept.length
    return {
      isShared: false,
      follow: async (take) => {
        if (fails) throw new Error('unreadable')
        take(kept.slice(0, before))
      },
      append: async (texts) => {
        if (fails) throw new Error('full')
        kept.push(...texts)
      },
      close: async () => {},
    }
  }
  return { kept, open, failing: (value: boolean) => (fails = value) }
}

function openHistory(store: EventStore | undefined, clock = createManualClock()) {
  const taken: Event[] = []
  const problems: unknown[] = []
  const history = createEventHistory<Event>({
    store,
    clock,
    taken: (one) => taken.push(one),
    failed: (error) => problems.push(error),
  })
  return { history, taken, problems, clock }
}

describe('a history of events', () => {
  test('the event history is in memory at once if there is no store', async () => {
    const { history, taken } = openHistory(undefined)
    history.add(event(1))
    expect(taken).toEqual([event(1)])
    await history.loaded()
    await history.close()
  })

  test('the event history starts with the events of earlier processes, regardless of when it is searched', async () => {
    const { open } = keptTexts()
    const first = openHistory(open())
    first.history.add(event(1))
    await first.history.close()
    const second = openHistory(open())
    second.history.add(event(2))
    expect(second.taken).toEqual([])
    await second.history.loaded()
    expect(second.taken).toEqual([event(1), event(2)])
    second.history.add(event(3))
    expect(second.taken).toHaveLength(3)
    await second.history.close()
    const third = openHistory(open())
    await third.clock.advance(5000)
    expect(third.taken).toEqual([event(1), event(2), event(3)])
  })

  test('the event history loses at most half a second in a crash', async () => {
    const { kept, open } = keptTexts()
    const { history, clock } = openHistory(open())
    history.add(event(1))
    await clock.advance(500)
    history.add(event(2))
    expect(kept.map((text) => (JSON.parse(text) as Event).at)).toEqual([1])
  })

  test('the event history continues without events that cannot be written or read, and reports them', async () => {
    const { kept, open, failing } = keptTexts()
    failing(true)
    const { history, taken, problems, clock } = openHistory(open())
    history.add(event(1))
    await clock.advance(500)
    await history.loaded()
    failing(false)
    history.add(event(2))
    await clock.advance(500)
    expect(taken).toEqual([event(1), event(2)])
    expect(kept).toHaveLength(1)
    expect(problems.map(String)).toEqual([
      'Error: full',
      'Error: unreadable',
      'Error: 1 events are missing from the history because they could not be written.',
    ])
    await history.close()
  })

  test('the event history keeps a limited number of unwritten events, and drops the oldest', async () => {
    let appended: readonly string[] = []
    let release = () => {}
    const store: EventStore = {
      isShared: true,
      follow: async () => {},
      append: async (texts) => {
        await new Promise<void>((resolve) => (release = resolve))
        appended = texts
      },
      close: async () => {},
    }
    const { history, clock, problems } = openHistory(store)
    history.add(event(0))
    await clock.advance(500)
    for (let at = 1; at <= 60_000; at += 1) history.add(event(at))
    release()
    await clock.advance(500)
    release()
    await clock.advance(500)
    expect(appended.length).toBeLessThanOrEqual(50_000)
    expect(appended.at(-1)).toBe(JSON.stringify(event(60_000)))
    expect(problems.join()).toContain('25000 events are missing')
  })

  test('the event history is ordered, complete and without repeats after any crashes (property)', async () => {
    const act = fc.oneof(fc.constantFrom('add', 'pass', 'crash', 'close', 'load'), fc.constant('add'))
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
        const { open } = keptTexts()
        let process = openHistory(open())
        let written: number[] = []
        let fresh: number[] = []
        let at = 0
        for (const one of acts) {
          if (one === 'add') {
            process.history.add(event((at += 1)))
            fresh.push(at)
          } else if (one === 'pass') {
            await process.clock.advance(500)
            written = [...written, ...fresh]
            fresh = []
          } else if (one === 'load') {
            await process.history.loaded()
            expect(process.taken.map((taken) => taken.at)).toEqual([...written, ...fresh])
          } else {
            if (one === 'close') {
              await process.history.close()
              written = [...written, ...fresh]
            }
            fresh = []
            process = openHistory(open())
          }
        }
        await process.history.loaded()
        expect(process.taken.map((taken) => taken.at)).toEqual([...written, ...fresh])
      }),
    )
  })
})
