import { expect, test } from 'vitest'
import { setUpReal } from './ticket-api.fixture.js'

const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]
const body = { profile: 'duel' }

test('a backend pauses a profile, whose players see why they wait, and resumes it', async () => {
  const { call, service } = setUpReal(queues, { inspect: true })
  expect(await call('backend', 'POST', '/queues/duel/pause')).toMatchObject({ status: 204 })
  const { json } = await call('ann', 'POST', '/tickets', body)
  await call('ben', 'POST', '/tickets', body)
  await service.tick()
  const { id } = json as { id: string }
  expect((await call('ann', 'GET', `/tickets/${id}`)).json).toMatchObject({ status: 'SEARCHING' })
  expect((await call('ann', 'GET', `/tickets/${id}/explain`)).json).toMatchObject({
    summary: 'The queue is paused.',
    queues: [{ paused: true, summary: 'The queue is paused.' }],
  })
  expect((await call('backend', 'GET', '/inspect/tickets')).json).toMatchObject({
    queues: [{ name: 'duel', paused: true }],
  })
  expect((await call('backend', 'POST', '/queues/duel/resume')).status).toBe(204)
  await service.tick()
  expect((await call('ann', 'GET', `/tickets/${id}`)).json).toMatchObject({ status: 'MATCH_FOUND' })
})

test('only a backend pauses, and only a profile that there is', async () => {
  const { call } = setUpReal(queues)
  for (const verb of ['pause', 'resume']) {
    expect((await call('ann', 'POST', `/queues/duel/${verb}`)).status).toBe(403)
    expect(await call('backend', 'POST', `/queues/duell/${verb}`)).toMatchObject({
      status: 400,
      json: { code: 'unknown-profile' },
    })
  }
})
