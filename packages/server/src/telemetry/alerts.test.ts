/**
 * Checks that the rules and dashboards in deploy/ for Prometheus and Grafana name only metrics that the program has.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { BACKEND_KEY, openServer, openService, yamlOf } from '../running/server.fixture.js'

const root = new URL('../../../../', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')
const RULES = 'deploy/prometheus/muster.rules.yaml'
const DASHBOARD = 'deploy/grafana/muster.json'

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
const rules = (parse(textOf(RULES)) as Rules).groups.flatMap((group) => group.rules)

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}
const panels = (JSON.parse(textOf(DASHBOARD)) as Dashboard).panels.flatMap(({ targets = [] }) => targets)

/**
 * Metrics that a program without problems, Redis, pools and target waits does not report, by name in docs/telemetry.md.
 */
const OF_TROUBLE: Readonly<Record<string, string>> = {
  muster_deployments_failed_total: 'muster.deployments.failed',
  muster_api_throttled_total: 'muster.api.throttled',
  muster_problems_total: 'muster.problems',
  muster_partition_leading: 'muster.partition.leading',
  muster_partition_takeovers_total: 'muster.partition.takeovers',
  muster_partition_clock_offset: 'muster.partition.clock_offset',
  muster_partition_records_vanished_total: 'muster.partition.records_vanished',
  muster_deployments_reaped_total: 'muster.deployments.reaped',
  muster_servers_lost_total: 'muster.servers.lost',
  muster_queue_target_wait: 'muster.queue.target_wait',
  muster_pool_matches_total: 'muster.pool.matches',
  muster_pool_hits_total: 'muster.pool.hits',
  muster_pool_servers_wanted: 'muster.pool.servers_wanted',
}

const installed = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const promtool = (args: readonly string[], input = '') => {
  try {
    return execFileSync('promtool', args, { input, encoding: 'utf8', cwd: fileURLToPath(root) })
  } catch (error) {
    return (error as { readonly stderr: string }).stderr
  }
}

/** Returns the response of /metrics after a match was made. */
async function metricsOfMatch(): Promise<string> {
  const { emulator, url } = await openService()
  const { server, ask } = await openServer(yamlOf(url, 'telemetry: { metrics: {} }'))
  onTestFinished(async () => {
    await server.close()
    await emulator.close()
  })
  let text = ''
  const metrics = async () => (text = await (await ask('GET', '/metrics')).text())
  // The first response comes once the metrics module is loaded. Earlier events are not counted.
  await metrics()
  for (const player of ['ann', 'ben'])
    await ask('POST', '/tickets', {
      token: BACKEND_KEY,
      body: { profile: 'duel', player_id: player, player_ip: '192.0.2.7', attributes: {} },
    })
  await expect.poll(metrics, { interval: 100 }).toMatch(/^muster_deployment_start_time_count\{.*\} 1/m)
  return text
}

test('every metric that the alerts and the dashboard use is exported by Muster', async () => {
  const text = await metricsOfMatch()
  const shown = new Set(Array.from(text.matchAll(/^(muster_\w+?)(?:\{.*\})? \S+/gm), ([, name = '']) => name))
  const named = [...rules, ...panels].flatMap(({ expr }) =>
    // Names of labels are in braces and in by (…).
    [...expr.replaceAll(/\{[^}]*\}|(?:by|on) \([^)]*\)/g, '').matchAll(/\bmuster_\w+/g)].map(([name]) => name),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !shown.has(name) && !(name in OF_TROUBLE))).toEqual([])
  const documented = textOf('docs/telemetry.md')
  for (const name of Object.values(OF_TROUBLE)) expect(documented).toContain(`\`${name}\``)
})

test('every alert has a section in docs/runbooks.md, in the order of the alert file', () => {
  const sections = Array.from(textOf('docs/runbooks.md').matchAll(/^## (\w+)$/gm), ([, name]) => name)
  expect(sections).toEqual(rules.map(({ alert }) => alert))
  for (const { alert } of rules) expect(textOf(RULES)).toContain(`docs/runbooks.md#${alert.toLowerCase()}\n`)
})

test.skipIf(!installed)('promtool accepts the rules and the output of /metrics', async () => {
  expect(promtool(['check', 'rules', RULES])).toContain(`${rules.length} rules found`)
  expect(promtool(['check', 'metrics'], await metricsOfMatch())).toBe('')
})

test.skipIf(!installed).each(['muster.test.yaml', 'muster.weeks.test.yaml'])(
  'the alerts fire for faults and never on calm days in recorded series: %s',
  (file) => {
    expect(promtool(['test', 'rules', `deploy/prometheus/${file}`])).toContain('SUCCESS')
  },
)
