/** Warm servers that fail before they register, e.g. because of a broken build. */
import { expect, test } from 'vitest'
import { arena, open } from './listed-servers.fixture.js'

test('a pool whose servers all fail creates about one warm server a minute', async () => {
  const { run, service } = open({ service: { fate: () => ({ errorMs: 2000 }) } })
  await run(3_600_000)
  expect(service.calls.create.length).toBeLessThan(80)
  expect(service.calls.create.length).toBeGreaterThan(40)
})

test('a pool whose servers have failed fills up once one of them has registered', async () => {
  const at = [{ cron: '* * * * *', minutes: 2, min: 10 }]
  const { run, service, matchmaker } = open({
    pools: [{ ...arena, at }],
    service: { fate: (nth) => (nth <= 15 ? { errorMs: 2000 } : { readyMs: 3000 }) },
  })
  await run(300_000)
  expect(service.unstopped()).toHaveLength(10)
  expect(matchmaker.inspect().pools).toMatchObject([{ idle: 10, starting: 0 }])
})
