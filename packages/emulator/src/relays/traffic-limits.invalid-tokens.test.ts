import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createInvalidTokens, createSessionLimiter } from './traffic-limits.js'

const start = Date.UTC(2026, 0, 1)

test('a source with wrong relay tokens gets five answers per second', () => {
  const tokens = createInvalidTokens()
  const session = createSessionLimiter()
  const answered = [0, 10, 20, 30, 40, 50, 999, 1000, 1005, 1010].map((ms) =>
    tokens.mayAnswer(session, '192.0.2.1', start + ms),
  )
  expect(answered).toEqual([true, true, true, true, true, false, false, true, false, true])
})

test('the limit of five answers to a source of wrong tokens covers all sessions together', () => {
  const tokens = createInvalidTokens()
  const sessions = Array.from({ length: 8 }, createSessionLimiter)
  expect(sessions.filter((session) => tokens.mayAnswer(session, '192.0.2.1', start))).toHaveLength(5)
})

test('a session gives twenty answers per second to wrong tokens, and no source can use up all twenty', () => {
  const tokens = createInvalidTokens()
  const session = createSessionLimiter()
  const answeredTo = (source: string, attempts: number) =>
    Array.from({ length: attempts }, () => tokens.mayAnswer(session, source, start)).filter(Boolean).length
  expect(answeredTo('192.0.2.1', 1000)).toBe(5)
  expect(['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'].map((source) => answeredTo(source, 10))).toEqual([
    5, 5, 5, 0,
  ])
})

test('no second has over 20 answers in a session or 5 to a source, for any sequence of wrong tokens', () => {
  const attempt = fc.record({
    wait: fc.integer({ min: 0, max: 120 }),
    source: fc.integer({ min: 1, max: 12 }),
    session: fc.integer({ min: 0, max: 1 }),
  })
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 200 }), (attempts) => {
      const tokens = createInvalidTokens()
      const sessions = [createSessionLimiter(), createSessionLimiter()] as const
      let now = start
      const answered = attempts.flatMap(({ wait, source, session }) => {
        now += wait
        return tokens.mayAnswer(sessions[session === 0 ? 0 : 1], `192.0.2.${source}`, now)
          ? [{ at: now, source, session }]
          : []
      })
      for (const { at, source, session } of answered) {
        const second = answered.filter((other) => other.at >= at && other.at < at + 1000)
        expect(second.filter((other) => other.session === session).length).toBeLessThanOrEqual(20)
        expect(second.filter((other) => other.source === source).length).toBeLessThanOrEqual(5)
      }
    }),
    { numRuns: 50 },
  )
})

test('a flood of wrong tokens from forged sources uses bounded memory', () => {
  const tokens = createInvalidTokens()
  const session = createSessionLimiter()
  for (let source = 0; source < 20_000; source++)
    tokens.mayAnswer(session, `2001:db8::${source.toString(16)}`, start + source / 10)
  expect(tokens.sources()).toBeLessThanOrEqual(2048)
})
