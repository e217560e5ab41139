import { describe, expect, test } from 'vitest'
import { problemOf } from './problems.js'
import { invalidTicket } from '../tickets/ticket-input.js'
import { setUpReal } from './ticket-api.fixture.js'

describe('a party that is too big for its queue', () => {
  const deploy = { application: 'game', version: '1' }
  const queues = [{ name: 'pairs', teams: [{ name: 'side', count: 2, size: 2 }], deploy }]
  const body = { profile: 'pairs', attributes: {} }

  test('a group too big for its queue refuses the extra member on joining, not when all are ready', async () => {
    const { call } = setUpReal(queues)
    const { group_id } = (await call('ann', 'POST', '/groups', { ...body, is_ready: false })).json as {
      group_id: string
    }
    const join = (who: string) => call(who, 'POST', `/groups/${group_id}/members`, { ...body, is_ready: true })
    expect((await join('ben')).status).toBe(201)
    expect(await join('cas')).toMatchObject({
      status: 409,
      json: { code: 'group-full', message: 'The group is full: a party of "pairs" has at most 2.' },
    })
    // A member may join again.
    expect((await join('ben')).status).toBe(201)
  })

  test('the refusal of a too big group is a whole sentence, even if it names no field', () => {
    const error = invalidTicket('players', 'players: a party of 3 is too big: a team takes at most 2')
    expect(problemOf(error, { dateOf: (at = 0) => at })).toMatchObject({
      status: 400,
      message: 'a party of 3 is too big: a team takes at most 2',
    })
  })
})
