import { describe, expect, test } from 'vitest'
import { UnknownTicket } from '../errors.js'
import { duel, setUp } from '../matchmaker.fixture.js'

describe('waiting for a change of a ticket', () => {
  test('waitForChange resolves for all callers on every change of a ticket, including its end', async () => {
    const { clock, matchmaker, join } = setUp()
    expect(join('ann', 'ben').version).toBe(1)
    matchmaker.start()
    const told: string[] = []
    const follow = async () => {
      for (let version = 1; ;) {
        const ticket = await matchmaker.waitForChange('ann-ben', { version })
        told.push(`${ticket.version} ${ticket.status}`)
        if (ticket.status === 'HOST_ASSIGNED') return
        version = ticket.version
      }
    }
    const both = Promise.all([follow(), follow()])
    await clock.advance(7000)
    await both
    expect(told).toEqual(['2 MATCH_FOUND', '2 MATCH_FOUND', '3 HOST_ASSIGNED', '3 HOST_ASSIGNED'])
    await matchmaker.stop()
  })

  test('waitForChange resolves immediately for an older version and for a ticket that has ended', async () => {
    const { matchmaker, join } = setUp()
    join('ann')
    expect(await matchmaker.waitForChange('ann', { version: 7 })).toMatchObject({ version: 1 })
    const { version } = matchmaker.cancelTicket('ann')
    expect(await matchmaker.waitForChange('ann', { version })).toMatchObject({ status: 'CANCELLED' })
    await expect(matchmaker.waitForChange('nosuch', { version: 1 })).rejects.toThrow(UnknownTicket)
  })

  test('waitForChange can be aborted, and then holds no waiter', async () => {
    const { matchmaker, join } = setUp()
    join('ann')
    const giving = new AbortController()
    const waiting = matchmaker.waitForChange('ann', { version: 1, signal: giving.signal })
    const other = matchmaker.waitForChange('ann', { version: 1 })
    giving.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(matchmaker.waitForChange('ann', { version: 1, signal: giving.signal })).rejects.toThrow('enough')
    matchmaker.cancelTicket('ann')
    expect(await other).toMatchObject({ status: 'CANCELLED' })
  })

  test('waitForChange refuses invalid options, and the ticket changes as if nobody had waited', async () => {
    const { matchmaker, seen, join } = setUp()
    join('ann')
    const refused: readonly (readonly [options: unknown, message: string])[] = [
      [{ version: 1, signal: new AbortController() }, 'option signal: must have addEventListener'],
      [{ version: '1' }, 'option version: must be a number'],
      [{ version: 1, until: 'end' }, 'option until: must be "assigned" or "match-end"'],
      [undefined, 'option must be an object'],
    ]
    for (const [options, message] of refused)
      await expect(matchmaker.waitForChange('ann', options as never)).rejects.toThrow(message)
    expect(matchmaker.cancelTicket('ann')).toMatchObject({ status: 'CANCELLED' })
    expect(seen.problem).toBeUndefined()
  })

  test('one signal may end many waits for changes, without a warning about listeners', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => void warnings.push(warning)
    process.on('warning', listen)
    const { matchmaker, join } = setUp()
    join('ann')
    const ending = new AbortController()
    const waits = Array.from({ length: 20 }, () =>
      matchmaker.waitForChange('ann', { version: 1, signal: ending.signal }),
    )
    const ended = Promise.allSettled(waits)
    ending.abort(new Error('enough'))
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    expect(warnings).toEqual([])
  })

  test('waitForChange rejects when the matchmaker closes', async () => {
    const { matchmaker, join } = setUp()
    join('ann')
    const waiting = matchmaker.waitForChange('ann', { version: 1 })
    await matchmaker.close()
    expect(await waiting).toMatchObject({ status: 'CANCELLED', cancelReason: 'closed' })
  })

  test('a ticket that waited for servers changes no more after its cancellation', async () => {
    const { matchmaker, join, run } = setUp({ maxServers: 1 })
    for (const id of ['ann', 'ben', 'cas', 'dee']) join(id)
    await run(250)
    expect(matchmaker.getTicket('cas')).toMatchObject({ waitingFor: 'servers', version: 2 })
    const { version } = matchmaker.cancelTicket('cas')
    await run(500)
    expect(matchmaker.getTicket('dee')?.waitingFor).toBe('players')
    expect(matchmaker.getTicket('cas')?.version).toBe(version)
  })

  test('waitForChange resolves even if the only changed field of the ticket is waitingFor', async () => {
    const { matchmaker, join, run } = setUp({ queues: [duel], maxServers: 1 })
    join('ann', 'ben')
    await run(250)
    const { version } = join('cas', 'dee')
    const waiting = matchmaker.waitForChange('cas-dee', { version })
    await run(250)
    expect(await waiting).toMatchObject({ waitingFor: 'servers' })
  })
})
