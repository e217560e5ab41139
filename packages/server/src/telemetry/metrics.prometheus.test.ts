/** Tests the metrics of game servers and pools as Prometheus reads them. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, inProcess } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { createMatchmaker } from '@muster/matchmaker'
import { RegistrationBody } from '@muster/matchmaker/internal'
import { expect, onTestFinished, test } from 'vitest'
import { createFakeService } from '../console/service.fixture.js'
import { createMetrics } from './metrics.js'

const arena = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'São "Paulo"', latitude: -23.5, longitude: -46.6 }],
  at: [{ cron: '* * * * *', minutes: 2, min: 2 }],
}

test('/metrics counts game servers and pools by pool, place and state', async () => {
  const clock = createManualClock()
  const service = createFakeService({ clock })
  const matchmaker = createMatchmaker({
    deployments: service.deployments,
    pools: [arena],
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    clock,
  })
  const metrics = createMetrics({
    matchmaker,
    client: createClient({
      baseUrl: 'http://service.invalid',
      token: 'token',
      clock,
      dispatcher: inProcess(() => expect.unreachable('nothing is asked of the service')),
    }),
    clock,
    program: {
      connections: () => ({ open: 0, idleEnded: 0, busyEnded: 0, pipelinedEnded: 0, refused: 0 }),
      load: () => ({ refused: {}, lateMs: 0 }),
      answers: () => ({}),
      clock,
      refusals: () => ({}),
    },
  })
  const server = createServer(metrics.serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.close()
    await metrics.close()
    await clock.until(matchmaker.close())
  })
  matchmaker.start()
  await clock.advance(8000)
  matchmaker.registerServer(service.tokenOf('s1'), RegistrationBody.parse({ instance: 'one' }))
  await clock.advance(36_000)

  const text = await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text()
  const at = 'muster_pool="arena",muster_place="São \\"Paulo\\""'
  for (const line of [
    `muster_pool_servers_wanted{${at}} 2`,
    `muster_pool_servers{${at},muster_state="idle"} 1`,
    `muster_pool_servers{${at},muster_state="starting"} 1`,
    `muster_pool_matches_total{${at}} 0`,
    `muster_pool_hits_total{${at}} 0`,
    `muster_pool_idle_time_total{${at}} 36`,
    'muster_servers{muster_pool="arena",muster_state="lost"} 1',
    'muster_servers_lost_total{muster_pool="arena"} 1',
    'muster_results_pending 0',
  ])
    expect(text).toMatch(new RegExp(`^${line.replaceAll(/[\\{}"]/g, '\\$&')}( \\d+)?$`, 'm'))
  expect(text).toContain('# TYPE muster_pool_idle_time_total counter')
})
