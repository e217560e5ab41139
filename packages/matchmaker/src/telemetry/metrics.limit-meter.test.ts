import { expect, test } from 'vitest'
import { createLimitMeter } from './metrics.js'

test('a rate-limit metric reports the use in the busiest window since the last reading', () => {
  const meter = createLimitMeter()
  for (const now of [0, 400, 999, 1000, 1399]) meter.left('deployments.create', now)
  // An operation without a documented limit.
  meter.left('applications.list', 0)
  // The requests at 400, 999, 1000 and 1399. The one at 0 was a full second before 1000.
  expect(meter.take()).toEqual([{ name: 'createDeployment', limit: 40, peak: 4 }])
  meter.left('deployments.create', 1500)
  expect(meter.take()).toEqual([{ name: 'createDeployment', limit: 40, peak: 4 }])
  meter.left('deployments.create', 9000)
  meter.left('deployments.get', 9000)
  expect(meter.take()).toEqual([
    { name: 'createDeployment', limit: 40, peak: 1 },
    { name: 'status', limit: 20, peak: 1 },
  ])
})
