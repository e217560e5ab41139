import { expect, test } from 'vitest'
import type { BackendAct } from './api-options.js'
import { setUpReal } from './ticket-api.fixture.js'

const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]

test('each act of a backend is reported with its name, once it was done, and nothing that was refused', async () => {
  const acts: BackendAct[] = []
  const { call } = setUpReal(queues, { acted: (act) => void acts.push(act) })
  expect((await call('backend', 'POST', '/queues/duel/pause')).status).toBe(204)
  expect((await call('backend', 'POST', '/queues/duel/resume')).status).toBe(204)
  expect((await call('backend', 'DELETE', '/players/ann/cooldown')).status).toBeLessThan(300)
  expect((await call('backend', 'POST', '/queues/other/pause')).status).toBe(400)
  expect((await call('ann', 'POST', '/queues/duel/pause')).status).toBe(403)
  expect((await call('backend', 'POST', '/servers/nobody/drain')).status).toBe(404)
  expect(acts).toEqual([
    { who: 'backend', what: 'pause-queue', id: 'duel' },
    { who: 'backend', what: 'resume-queue', id: 'duel' },
    { who: 'backend', what: 'forgive-cooldown', id: 'ann' },
  ])
})
