/** Checks docs/costs.md: figures that follow from the code, and the computed example. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, inProcess } from '@muster/core'
import { limits } from '@muster/core/api'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi, defineQueue } from '@muster/matchmaker'
import { definePools, lossShare, poolCost } from '@muster/matchmaker/internal'
import { configJsonSchema } from '@muster/server'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const page = read('docs/costs.md')

/** Returns the cells of the table row that begins with this text, without the first cell. */
function row(first: string, text = page): string[] {
  const found = text.split('\n').filter((line) => line.startsWith(`| ${first} |`))
  expect(found, first).toHaveLength(1)
  return (found[0] ?? '').split(' | ').slice(1)
}
const numbersIn = (text: string) =>
  Array.from(text.matchAll(/\d[\d,]*(?:\.\d+)?/g), ([number]) => Number(number.replaceAll(',', '')))
const firstIn = (text = '') => numbersIn(text)[0]

/** Returns the value of a constant that a file does not export. */
function constantIn(path: string, pattern: RegExp): number {
  const [, value = ''] = pattern.exec(read(path)) ?? []
  expect(value, `${path} ${pattern}`).not.toBe('')
  return Number(value.replaceAll('_', ''))
}

const pool = { name: 'arena', deploy: { application: 'my-game', version: '1' }, warm: {}, custom: {} }
const places = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `p${index}`, latitude: index, longitude: index }))
const [defaults] = definePools([pool])
const queue = defineQueue({ name: 'duel', matchSize: 2, deploy: pool.deploy })

test('the limits in docs/costs.md are the defaults of the configuration and of pools', () => {
  const { properties } = configJsonSchema() as {
    readonly properties: { readonly spending: { readonly properties: Record<string, { readonly default?: unknown }> } }
  }
  const spending = ['maxServers', 'maxStarting', 'maxCreatesPerMinute', 'maxServersPerPlayer', 'maxMatchesPerPlayer']
  for (const name of spending) {
    const [said] = row(`\`spending.${name}\``)
    expect(said === 'unlimited' ? said : firstIn(said), name).toBe(properties.spending.properties[name]?.default)
  }
  expect(firstIn(row('`pools[].warm.max`')[0])).toBe(defaults?.warm?.max)
  expect(firstIn(row('`pools[].warm.maxIdleShare`')[0])).toBe(defaults?.warm?.maxIdleShare)
  expect(firstIn(row('`pools[].custom.max`')[0])).toBe(defaults?.custom?.max)
  expect(firstIn(row('`pools[].custom.perPlayer`')[0])).toBe(defaults?.custom?.perPlayer)
  expect(row('`pools[].warm.perHour`')[0]).toBe('`warm.max`')
  const [servers = 0] = numbersIn(row('`spending.maxServers`')[0] ?? '')
  const [price = 0, hour = 0, day = 0] = numbersIn(row('`spending.maxServers`')[1] ?? '')
  expect([hour, day]).toEqual([servers * price, servers * price * 24])
})

test('the service limits and stop times in docs/costs.md are those of the code', () => {
  expect(firstIn(row('create')[1])).toBe(limits.createDeployment.limit)
  expect(numbersIn(row('status read')[1] ?? '')).toEqual([
    limits.status.limit,
    constantIn('packages/matchmaker/src/options.ts', /readsPerSecond: (\d+),/),
  ])
  expect(firstIn(row('list')[1])).toBe(limits.listDeployments.limit)
  const watcher = 'packages/hosting/src/sources/service/watching/watcher.ts'
  const running = constantIn(watcher, /COMPLETE_GAP_MS = .*running: ([\d_]+)/) / 1000
  const usual = constantIn(watcher, /COMPLETE_GAP_MS = \{ usual: ([\d_]+)/) / 1000
  expect(page).toContain(`every ${running} s while servers run, or every ${usual} s with webhooks`)

  const never = row('a server that never becomes READY')[0] ?? ''
  expect(numbersIn(never)).toEqual([queue.deploy.readyTimeoutMs / 1000, queue.maxAttempts])
  expect(firstIn(row('a match that neither its server nor your backend ends')[0])).toBe(
    queue.deploy.maxDurationMs / 3_600_000,
  )
  expect(firstIn(row('an orphan whose match has ended')[0])).toBe(usual)
  expect(firstIn(row('an orphan whose match Muster does not know')[0])).toBe(
    constantIn('packages/matchmaker/src/options.ts', /orphanGraceMs: ([\d_]+),/) / 1000,
  )
  expect(firstIn(row('a surplus idle server of a pool')[0])).toBe(defaults?.keepIdleSeconds)
  expect(firstIn(row('a server that players started, without players')[0])).toBe(defaults?.custom?.emptySeconds)
  expect(page).toContain(
    `after ${constantIn('packages/matchmaker/src/options.ts', /BUDGET = 0\.(\d+)/)} % of its interval`,
  )
  const growth = constantIn('packages/hosting/src/store/file-store.ts', /GROWTH = (\d+)/)
  expect(page).toContain(`and ${growth} times its size after the last rewrite`)
  const waits = constantIn('packages/matchmaker/src/http-api/ticket-api.ts', /waits: inAll = ([\d_]+)/)
  expect(page).toContain(`accepts ${waits.toLocaleString('en')} of them (\`limits.waits\`)`)
  expect(page).toContain(`by a long poll of ${constantIn('packages/client/src/machine.ts', /WAIT_SECONDS = (\d+)/)} s`)
})

test('the idle shares in docs/costs.md equal those of docs/servers.md and of the formula', () => {
  const said =
    /idle servers: ([\d.]+) % of the playing servers with ([\d,]+) matches .*, ([\d.]+) % with (\d+)/.exec(page) ?? []
  const [least = 0, many = 0, most = 0, few = 0] = said.slice(1).flatMap(numbersIn)
  const [cost] = definePools([{ ...pool, warm: { maxIdleShare: 1 }, places: places(1) }])
  for (const [matchesPerHour, share] of [
    [many, least],
    [few, most],
  ] as const) {
    const { idle, playing } = poolCost(cost as NonNullable<typeof cost>, {
      matchesPerHour,
      bootSeconds: 20,
      matchSeconds: 900,
    })
    expect((100 * idle) / playing).toBeCloseTo(share, most === share ? 0 : 1)
  }
})

test('the goals in docs/costs.md are those of the benchmarks', () => {
  const goals: readonly (readonly [label: string, file: string, pattern: RegExp])[] = [
    ['memory of `muster serve` at rest', 'server/start.ts', /'program: memory at rest',\n.*\n\s+(\d+)/],
    ['memory of a waiting ticket', 'matchmaker/whole.ts', /memory of a waiting ticket', [\w.]+, ([\d.]+)/],
    ['memory of 20,000 open long polls, with the process', 'matchmaker/ticket-api.ts', /long polls`, [\w.]+, ([\d_]+)/],
    [
      'memory of 20,000 event streams, with the process',
      'matchmaker/ticket-api.ts',
      /event streams`,\n.*\n\s+([\d_]+)/,
    ],
    ['tickets created over HTTP with a JWT, per second of CPU', 'server/creates.ts', /by tokens', rates, ([\d_]+)/],
    ['tickets created without tokens, per second of CPU', 'matchmaker/ticket-api.ts', /of CPU', single, ([\d_]+)/],
    [
      'CPU of the write-ahead log for a created ticket',
      'matchmaker/ticket-log.ts',
      /beyond one without it', beyond, (\d+_\d)/,
    ],
    ['CPU until 100,000 stored tickets are read', 'matchmaker/ticket-log.ts', /one before', loadMs, (\d)000/],
    [
      'matching when matches are hard to find: p95 duration of a round',
      'matchmaker/ticks.ts',
      /p95 of a tick`, p95, (\d+)/,
    ],
    ['10,000 game servers that report every 10 s', 'servers/beats.ts', /without the network.*?, (\d+), '% of a core'/s],
    ['memory of a registered server', 'servers/beats.ts', /with its deployment',\n.*\n\s+(\d+)/],
    [
      'tickets of pairs, per second of CPU of Redis',
      'redis/store-cost.ts',
      /perMatch: 2, appendOnly: 'none', goal: ([\d_]+)/,
    ],
    ['memory of Redis for a waiting ticket', 'redis/store-cost.ts', /waiting ticket'.*, (\d+), 'bytes'/],
  ]
  for (const [label, file, pattern] of goals) {
    const goal = constantIn(`bench/${file}`, pattern)
    // The goal of the log is in tenths of a microsecond.
    expect(firstIn(row(label)[1]), label).toBe(label.includes('write-ahead') ? goal / 10 : goal)
  }
})

test('the load of queued players in docs/costs.md follows from the figures in the table above that sentence', () => {
  const [resting, polling] = [
    row('memory of `muster serve` at rest'),
    row('memory of 20,000 open long polls, with the process'),
  ].map((cells) => cells.slice(0, 2).map((cell) => firstIn(cell) ?? 0))
  const ofPolls = [0, 1].map((index) => Math.round(((polling?.[index] ?? 0) - (resting?.[index] ?? 0)) / 2))
  const ofTickets = row('memory of a waiting ticket')
    .slice(0, 2)
    .map((cell) => 10 * (firstIn(cell) ?? 0))
  const [cpu = '', memory = ''] = row('10,000 waiting tickets')
  expect(numbersIn(memory)).toEqual([...ofTickets, ...ofPolls])
  expect(firstIn(cpu)).toBe(10_000 / constantIn('packages/client/src/machine.ts', /WAIT_SECONDS = (\d+)/))
})

test('a match costs a create, a stop and a few status reads, as docs/costs.md says', async () => {
  const MATCHES = 12
  const clock = createManualClock()
  const emulator = createEmulator({ clock })
  const dispatcher = inProcess(emulator.fetch)
  const client = createClient({ baseUrl: 'http://service.invalid', token: 'dev', clock, dispatcher })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  const size = { req_cpu: 512, req_memory: 1024, ports }
  await clock.until(client.applications.create({ name: 'my-game' }))
  await clock.until(client.versions.create({ app_name: 'my-game', name: '1', ...image, ...size }))
  const { deployments } = client
  const matchmaker = createMatchmaker({ deployments, clock, random: seededRandom(1), queues: [queue] })
  onTestFinished(async () => {
    await matchmaker.close()
    await emulator.close()
  })
  matchmaker.on('serverAssigned', ({ matchId }) => {
    void clock.sleep(30_000).then(() => matchmaker.stopMatch(matchId))
  })
  matchmaker.start()
  const api = createTicketApi(matchmaker, { authenticate: () => ({ id: 'game', role: 'backend' }), clock })
  let longest = 0
  for (let player = 0; player < 2 * MATCHES; player += 1) {
    const attributes = { skill: 1500, region: 'europe', mode: 'ranked' }
    const { id } = matchmaker.createTicket({
      queue: 'duel',
      players: [{ id: `player-${player}`, ip: '203.0.113.7', attributes }],
    })
    await clock.advance(5000)
    const answer = await api(new Request(`http://127.0.0.1/tickets/${id}`, { headers: { authorization: 'Bearer x' } }))
    longest = Math.max(longest, (await answer.text()).length)
  }
  await clock.advance(60_000)
  const requests = emulator.counters.requests as Record<string, Record<string, number>>
  const perMatch = (id: string) => Object.values(requests[id] ?? {}).reduce((sum, count) => sum + count, 0) / MATCHES
  expect(perMatch('deployments.create')).toBe(firstIn(row('create')[0]))
  expect(perMatch('deployments.stop')).toBe(firstIn(row('stop')[0]))
  const [least = 0, most = 0] = numbersIn(row('status read')[0] ?? '')
  expect(perMatch('deployments.get')).toBeGreaterThanOrEqual(least)
  expect(perMatch('deployments.get')).toBeLessThanOrEqual(most)
  expect(longest).toBeGreaterThan(200)
  expect(longest).toBeLessThanOrEqual(firstIn(/at most ([\d,]+) bytes of JSON/.exec(page)?.[1]) ?? 0)
})

/** Returns the computed rows of the example. */
function exampleOf(text: string) {
  const values = (first: string) =>
    row(first, text)
      .slice(0, 3)
      .map((cell) => firstIn(cell) ?? 0)
  const givens =
    /matches of (\d+) min\. A server boots in (\d+) s.*? (\d+) s, .*?([\d.]+) EUR.*pricePerMinute: ([\d.]+)/
  const [minutes = 0, boot = 0, wait = 0, price = 0, perMinute = 0] = (givens.exec(text) ?? []).slice(1).map(Number)
  const [players, counts] = [values('players who play'), values('places of a pool')]
  const maximum = constantOf(/`warm\.max: (\d+)`/.exec(text)?.[1])
  const wrong: string[] = []
  const compare = (first: string, digits: number, of: (index: number) => number) => {
    for (const [index, said] of values(first).entries())
      if (said !== Number(of(index).toFixed(digits))) wrong.push(`${first}: ${said} instead of ${of(index)}`)
  }
  const at = (list: readonly number[], index: number) => list[index] as number
  const matches = (index: number) => at(players, index) / 10
  const perHour = (index: number) => (matches(index) * 60) / minutes
  const perSecond = (index: number) => perHour(index) / 3600
  const costs = players.map((_, index) => {
    const max = at(counts, index) > 3 ? maximum : (defaults?.warm?.max ?? 0)
    const [one] = definePools([{ ...pool, warm: { max }, places: places(at(counts, index)) }])
    const load = { matchesPerHour: perHour(index), bootSeconds: boot, matchSeconds: minutes * 60 }
    return poolCost(one as NonNullable<typeof one>, load)
  })
  const cost = (index: number) => costs[index] as NonNullable<(typeof costs)[number]>
  const own = (index: number) => matches(index) + perSecond(index) * boot
  const pooled = (index: number) => matches(index) + cost(index).warm + perSecond(index) * boot * (1 - cost(index).hit)
  compare('matches at once', 0, matches)
  compare('matches an hour', 0, perHour)
  compare('players who come, a second', 1, (index) => at(players, index) / (minutes * 60))
  compare('creates a second', 2, perSecond)
  compare('players who wait', 0, (index) => (at(players, index) / (minutes * 60)) * wait)
  compare('servers without a pool, one for each match', 1, own)
  compare('cost of these, EUR an hour', 2, (index) => own(index) * price)
  compare('kept warm for 95 %', 0, (index) => cost(index).warm)
  compare('found warm, %', 1, (index) => 100 * cost(index).hit)
  compare('idle on average', 1, (index) => cost(index).idle)
  compare('servers with the pool', 1, pooled)
  compare('cost with the pool, EUR an hour', 2, (index) => pooled(index) * price)
  compare('extra cost of the pool, %', 1, (index) => (pooled(index) / own(index) - 1) * 100)
  if (Math.abs(perMinute * 60 - price) > 1e-9) wrong.push(`pricePerMinute: ${perMinute}`)
  return wrong
}
const constantOf = (text: string | undefined) => Number(text ?? Number.NaN)

test('the example in docs/costs.md follows from its input', () => {
  expect(exampleOf(page)).toEqual([])
  // The large example needs more warm servers than the default of `warm.max` allows.
  const [one] = definePools([{ ...pool, places: places(10) }])
  const load = { matchesPerHour: 40_000, bootSeconds: 20, matchSeconds: 900 }
  const { hit } = poolCost(one as NonNullable<typeof one>, load)
  expect(page).toContain(`default of ${defaults?.warm?.max}, only ${Math.round(100 * hit)} % of its matches`)
})

test('the check of the example in docs/costs.md detects a wrong figure', () => {
  expect(page).toContain('| 122.67 |')
  expect(exampleOf(page.replace('| 122.67 |', '| 122.76 |'))).toHaveLength(1)
  expect(exampleOf(page.replace('boots in 20 s', 'boots in 30 s')).length).toBeGreaterThan(3)
})

test('docs/costs.md has at most 120 lines', () => {
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

test('the base load on own machines in docs/costs.md equals Erlang’s loss formula', () => {
  const metal = read('docs/own-machines.md')
  const table = metal.slice(metal.indexOf('## Base load on metal'))
  const [places = 0, machinePrice = 0] = numbersIn(/A machine has .*? an hour/.exec(table)?.[0] ?? '')
  const [busy = 0, busyHours = 0, calm = 0, calmHours = 0] = numbersIn(
    /with 100 matches .*? h\./s.exec(table)?.[0] ?? '',
  )
  const price = 0.12
  const cells = (first: string) => row(first, table).map((cell) => firstIn(cell) ?? 0)
  const overflow = (load: number) =>
    cells('number of own machines').map((count) => load * lossShare(count * places, load))
  const [atPeak, otherwise] = [overflow(busy), overflow(calm)]
  const hours = busyHours * busy + calmHours * calm
  const atService = atPeak.map((peak, index) => busyHours * peak + calmHours * (otherwise[index] ?? 0))
  const rounded = (values: readonly number[], digits: number) => values.map((value) => Number(value.toFixed(digits)))
  expect(cells(`matches at a time at the service, in the ${busyHours} busy hours`)).toEqual(rounded(atPeak, 1))
  expect(cells(`matches at a time at the service, in the other ${calmHours} hours`)).toEqual(rounded(otherwise, 1))
  expect(cells('matches on own machines, %')).toEqual(
    rounded(
      atService.map((served) => 100 * (1 - served / hours)),
      0,
    ),
  )
  const costs = cells('number of own machines').map(
    (count, index) => 24 * count * machinePrice + price * (atService[index] ?? 0),
  )
  expect(cells('cost, EUR a day')).toEqual(rounded(costs, 2))
  expect(table).toContain(`costs ${(machinePrice / places).toFixed(3)} EUR an hour`)
  // The cost of the machines per day: the hours of all locations at the service's price.
  expect(table).toContain(`at least ${((24 * machinePrice) / (places * price)).toFixed(1)} h a day`)
})
