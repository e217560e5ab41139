import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerPhase } from '../records/index.js'
import { phaseAfterRestart, type ServerEvent, stepServer, workOf } from './server-state.js'

const EVENTS = ['created', 'no-capacity', 'again', 'lost', 'enrolled', 'ready', 'recorded', 'unwanted'] as const
const PHASES = ['creating', 'finding', 'retrying', 'starting', 'warming', 'running', 'stopping'] as const

/** Generates the life of a server: the events that fitted its phase, and its final phase. */
const life = fc.array(fc.constantFrom<ServerEvent>(...EVENTS), { maxLength: 12 }).map((events) => {
  let now: ServerPhase = 'creating'
  const happened: ServerEvent[] = []
  for (const event of events) {
    const next = stepServer(now, event)
    if (next === undefined) continue
    happened.push(event)
    now = next
  }
  return { phase: now, happened }
})

/** Returns the stored facts after these events. */
const storedOf = (happened: readonly ServerEvent[], isSent: boolean) => {
  const last = happened.lastIndexOf('again')
  const attempt = happened.slice(last + 1)
  const hasHandle = attempt.some((event) => ['created', 'no-capacity', 'enrolled'].includes(event))
  return {
    sentAt: isSent || attempt.includes('lost') ? 1 : undefined,
    requestId: hasHandle ? 'handle' : undefined,
    isUp: attempt.includes('recorded'),
  }
}

describe('the state of a server', () => {
  test('a server’s state never changes after its stop began', () => {
    for (const event of EVENTS) expect(stepServer('stopping', event)).toBeUndefined()
  })

  test('a server is running only after it was ready and the store recorded it', () => {
    fc.assert(
      fc.property(life, ({ phase: now, happened }) => {
        expect(now === 'running' ? happened.at(-1) : 'recorded').toBe('recorded')
      }),
    )
  })

  test('a server whose create was sent is always followed, searched for or being stopped', () => {
    fc.assert(
      fc.property(life, fc.boolean(), ({ phase: now, happened }, isWanted) => {
        const { requestId, sentAt } = storedOf(happened, false)
        if (requestId === undefined && sentAt === undefined) return
        expect(['follow', 'find', 'stop']).toContain(workOf({ phase: now, stopReason: isWanted ? undefined : 'ended' }))
      }),
    )
  })

  test('a server with a stop reason is never followed', () => {
    for (const now of PHASES) expect(workOf({ phase: now, stopReason: 'surplus' })).not.toBe('follow')
  })
})

describe('the state of a server after a restart', () => {
  test('after a restart no create is sent again if it may have been sent before', () => {
    fc.assert(
      fc.property(life, ({ happened }) => {
        const after = phaseAfterRestart(storedOf(happened, true))
        expect(workOf({ phase: after, stopReason: undefined })).not.toBe('create')
      }),
    )
  })

  test('after a restart a server gets the same work as before, except during a create or a stop', () => {
    fc.assert(
      fc.property(life, ({ phase: now, happened }) => {
        if (now === 'retrying' || now === 'stopping') return
        const after = phaseAfterRestart(storedOf(happened, false))
        expect(workOf({ phase: after, stopReason: undefined })).toBe(workOf({ phase: now, stopReason: undefined }))
      }),
    )
  })

  test('after a restart a server is running only if the store had recorded that', () => {
    expect(phaseAfterRestart({ requestId: 'handle', isUp: true })).toBe('running')
    expect(phaseAfterRestart({ requestId: 'handle', isUp: false })).toBe('starting')
    expect(phaseAfterRestart({ sentAt: 1 })).toBe('finding')
    expect(phaseAfterRestart({})).toBe('creating')
  })
})
