import { expect, test } from 'vitest'
import { recordedQueue } from './recording-lines.js'

const deploy = {
  application: 'game',
  version: '1',
  tags: ['eu'],
  environment: { A: 'x' },
  hiddenEnvironment: { B: 'hush' },
}
const queue = { name: 'duel', matchSize: 2, expireAfterMs: 1000 }

test('a recorded queue has no variables of its servers', () => {
  const kept = { application: 'game', version: '1', tags: ['eu'] }
  expect(recordedQueue({ ...queue, deploy })).toEqual({ ...queue, deploy: kept })
  const probe = { kind: 'registration', url: 'https://example.com/hush' } as const
  expect(recordedQueue({ ...queue, deploy: { ...deploy, probe } })).toEqual({
    ...queue,
    deploy: { ...kept, probe: { kind: 'registration' } },
  })
  const udp = { kind: 'udp', port: 'game', payload: 'hush' } as const
  expect(recordedQueue({ ...queue, deploy: { ...deploy, probe: udp } })).toEqual({
    ...queue,
    deploy: { ...kept, probe: { kind: 'udp', port: 'game' } },
  })
})

test('an invalid queue is recorded unchanged, for the matchmaker to refuse', () => {
  expect(recordedQueue({ name: 'duel' } as never)).toEqual({ name: 'duel' })
})
