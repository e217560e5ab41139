import { expect, test } from 'vitest'
import { COMMANDS } from '../commands.js'
import type { BackendAct, BackendCommand } from './api-options.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'

const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]

/**
 * The request of a backend for each operator's command, and the acts that are reported. Backends cancel tickets as
 * players do.
 */
const REQUESTS: Readonly<Record<BackendCommand, readonly [request: string, act: string, body?: object]>> = {
  stopMatch: ['DELETE /matches/m1', 'stop-match'],
  forgive: ['DELETE /players/m1/cooldown', 'forgive-cooldown'],
  pauseQueue: ['POST /queues/m1/pause', 'pause-queue'],
  resumeQueue: ['POST /queues/m1/resume', 'resume-queue'],
  pausePool: ['PATCH /pools/m1', 'pause-pool', { paused: true }],
  repeatResult: ['POST /results/m1/repeat', 'repeat-result'],
  dropResult: ['DELETE /results/m1', 'drop-result'],
  drainServer: ['POST /servers/m1/drain', 'drain-server'],
  stopServer: ['DELETE /servers/m1', 'stop-server'],
  revokeEnrolment: ['POST /enrolments/0123abcd/revoke', 'revoke-enrolment'],
}

test('every command that an operator can call over HTTP has a case in this test', () => {
  const operated = Object.entries(COMMANDS).flatMap(([name, row]) => (row.length > 3 ? [name] : []))
  expect([...Object.keys(REQUESTS), 'cancelTicket'].toSorted()).toEqual(operated.toSorted())
})

const requests = Object.values(REQUESTS).map(([request, what, body]) => ({ request, what, body }))
test.each(requests)(
  'the API reports the backend request $request to the `acted` callback as $what',
  async ({ request, what, body }) => {
    const acts: BackendAct[] = []
    const { service, call } = setUp({ acted: (act) => void acts.push(act) })
    service.matches.push({ matchId: 'm1' } as (typeof service.matches)[number])
    const [method = '', path = ''] = request.split(' ')
    expect((await call('backend', method, path, body)).status).toBeLessThan(300)
    expect(acts).toEqual([{ who: 'backend', what, id: path.split('/')[2] }])
  },
)

test('the API reports the end of a pool’s pause to the `acted` callback as resume-pool', async () => {
  const acts: BackendAct[] = []
  const { call } = setUp({ acted: (act) => void acts.push(act) })
  await call('backend', 'PATCH', '/pools/arena', { paused: false })
  expect(acts).toEqual([{ who: 'backend', what: 'resume-pool', id: 'arena' }])
})

test.each([
  ['throws', () => expect.fail('the log is full')],
  ['rejects', async () => expect.fail('the log is full')],
])('the answer to an operator request does not depend on an `acted` callback that %s', async (_, acted) => {
  const { call, errors } = setUp({ acted })
  expect((await call('backend', 'PATCH', '/pools/arena', { paused: false })).status).toBe(204)
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toMatchObject([{ message: 'the log is full' }])
})

test('a refused operator request does not call the `acted` callback', async () => {
  const acts: BackendAct[] = []
  const { call } = setUpReal(queues, { acted: (act) => void acts.push(act) })
  expect((await call('backend', 'POST', '/queues/other/pause')).status).toBe(400)
  expect((await call('ann', 'POST', '/queues/duel/pause')).status).toBe(403)
  expect((await call('backend', 'POST', '/servers/nobody/drain')).status).toBe(404)
  expect(acts).toEqual([])
})
