import type { CreateDeployment } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

describe('a READY server with a warm-up', () => {
  const secretOf = (creates: readonly CreateDeployment[]) =>
    creates[0]?.environment_variables?.find(({ key }) => key === 'MM_REGISTRATION_SECRET')?.value ?? ''

  test('a READY server receives players when its warm-up time is over', async () => {
    const { seen, join, run, status } = setUp({ queues: [{ ...duel, deploy: { ...deploy, warmUpMs: 4000 } }] })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    await run(3000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(seen.serverAssigned).toHaveLength(1)
  })

  test('a READY server receives players when it has registered with its secret', async () => {
    const probe = { kind: 'registration' } as const
    const { matchmaker, service, join, run, status } = setUp({ queues: [{ ...duel, deploy: { ...deploy, probe } }] })
    join('ann', 'ben')
    await run(10_000)
    const [match] = matchmaker.inspect().matches
    expect(match).toMatchObject({ phase: 'warming' })
    expect(matchmaker.serverReady(match?.matchId ?? '', 'guess')).toBe(false)
    expect(matchmaker.serverReady('nowhere', secretOf(service.calls.create))).toBe(false)
    await run(1000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    expect(matchmaker.serverReady(match?.matchId ?? '', secretOf(service.calls.create))).toBe(true)
    await run(250)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(JSON.stringify(matchmaker.inspect())).not.toContain(secretOf(service.calls.create))
  })

  test('a READY server that does not register in time is stopped, which counts as an attempt', async () => {
    const probe = { kind: 'registration', withinMs: 3000 } as const
    const { service, seen, join, run } = setUp({ queues: [{ ...duel, deploy: { ...deploy, probe } }] })
    join('ann', 'ben')
    await run(10_000)
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'not-listening', ticket: { attempts: 1 } }])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'not-listening' }])
    expect(service.unstopped()).not.toContain('r1')
  })

  test('a READY server is stopped if its ticket is cancelled during the warm-up', async () => {
    const { clock, matchmaker, service, join, run } = setUp({
      queues: [{ ...duel, deploy: { ...deploy, warmUpMs: 60_000 } }],
    })
    join('ann', 'ben')
    await run(8000)
    matchmaker.cancelTicket('ann-ben')
    await run(500)
    expect(service.unstopped()).toEqual([])
    await clock.until(matchmaker.close())
    expect(clock.sleepers).toBe(0)
  })
})
