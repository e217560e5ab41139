import { describe, expect, test } from 'vitest'
import { studio } from './studio.fixture.js'

interface Series {
  readonly labels: string[]
  readonly datasets: string[]
  readonly timestamps: string[]
}
interface Metrics {
  readonly cpu: Series
  readonly mem: Series
  readonly network: Readonly<Record<'receive' | 'transmit', Series>>
  readonly total: Readonly<Record<'receive_total' | 'transmit_total' | 'disk_read_total' | 'disk_write_total', Series>>
}

async function running(ms: number) {
  const made = await studio()
  const id = await made.deploy()
  await made.clock.advance(ms)
  const logs = async () => (await made.call('GET', `/v1/deployment/${id}/container-logs`)).body as { logs: string }
  const metrics = (query = '') => made.call('GET', `/v1/metrics/deployment/${id}${query}`)
  const series = async (query = '') => (await metrics(query)).body as Metrics
  return { ...made, id, logs, metrics, series }
}

describe('container logs', () => {
  test('container logs get new lines as the deployment starts, is ready and runs', async () => {
    const { clock, id, logs, stop } = await running(500)
    expect(await logs()).toEqual({ logs: '', encoding: 'utf-8', crash_logs: null, crash_data: null, logs_link: null })
    await clock.advance(500)
    expect((await logs()).logs).toBe('2026-01-01T00:00:01.000Z starting arena 1.0')
    await clock.advance(10_000)
    expect((await logs()).logs.split('\n').slice(1)).toEqual([
      '2026-01-01T00:00:11.000Z listening on 7777/UDP (game)',
      '2026-01-01T00:00:11.000Z ready',
    ])
    await clock.advance(25_000)
    const { logs: text } = await logs()
    expect(text.split('\n').slice(3)).toEqual([
      expect.stringMatching(/^2026-01-01T00:00:21.000Z frame 600 tick \d+\.\d\d ms$/),
      expect.stringMatching(/^2026-01-01T00:00:31.000Z frame 1200 tick \d+\.\d\d ms$/),
    ])
    await stop(id)
    expect((await logs()).logs).toBe(`${text}\n2026-01-01T00:00:36.000Z SIGTERM received, shutting down`)
  })

  test('container logs stay short, and repeat the same lines on every read', async () => {
    const { clock, logs } = await running(24 * 3_600_000 - 20_000)
    const before = (await logs()).logs.split('\n')
    expect(before).toHaveLength(103)
    await clock.advance(10_000)
    const after = (await logs()).logs.split('\n')
    expect(after.slice(3, -1)).toEqual(before.slice(4))
  })

  test('container logs contain the reason of a failed start', async () => {
    const { clock, call, deploy } = await studio({ faults: [{ operation: 'deployments.create', deployment: 'error' }] })
    const id = await deploy()
    await clock.advance(11_000)
    expect((await call('GET', `/v1/deployment/${id}/container-logs`)).body).toMatchObject({
      logs: expect.stringMatching(/fatal: the container could not be started$/),
      crash_logs: 'fatal: the container could not be started',
      crash_data: { exit_code: 1, message: 'the container could not be started', restart_count: 0 },
    })
  })

  test('container logs of an unknown deployment are answered with 404', async () => {
    const { call } = await studio()
    expect((await call('GET', '/v1/deployment/none/container-logs')).status).toBe(404)
  })
})

describe('deployment metrics', () => {
  test('deployment metrics have one point per step since the container was started', async () => {
    const { series } = await running(5 * 60_000)
    const { cpu, mem, network, total } = await series()
    const all = [cpu, mem, ...Object.values(network), ...Object.values(total)]
    const minutes = ['00:01', '00:02', '00:03', '00:04', '00:05'].map((minute) => `2026-01-01 ${minute}:00.000`)
    for (const { labels, datasets, timestamps } of all) {
      expect(labels).toHaveLength(1)
      expect(timestamps).toEqual(minutes)
      expect(datasets.map(Number).every((value) => value > 0)).toBe(true)
    }
    const received = total.receive_total.datasets.map(Number)
    expect(received).toEqual(received.toSorted((a, b) => a - b))
    expect(new Set(cpu.datasets).size).toBe(5)
  })

  test('deployment metrics respect start, end, steps and raw, with the same value for the same time', async () => {
    const { clock, series } = await running(3_600_000)
    const start = encodeURIComponent('2026-01-01 00:10:00.0')
    const end = encodeURIComponent('2026-01-01 00:12:00.000000')
    const range = `start_time=${start}&end_time=${end}`
    const fine = (await series(`?${range}&steps=30s`)).cpu
    expect(fine.timestamps.map((time) => time.slice(14))).toEqual(['10:30.000', '11:00.000', '11:30.000', '12:00.000'])
    await clock.advance(60_000)
    const coarse = (await series(`?${range}`)).cpu
    expect(coarse.datasets).toEqual([fine.datasets[1], fine.datasets[3]])
    const raw = (await series(`?${range}&raw=true`)).cpu
    expect(raw.datasets.map((value) => String(Number(Number(value).toPrecision(4))))).toEqual(coarse.datasets)
    expect(raw.datasets).not.toEqual(coarse.datasets)
  })

  test('deployment metrics end with the container, and can be read once it is terminated', async () => {
    const { clock, id, series, stop } = await running(130_000)
    await stop(id)
    await clock.advance(600_000)
    expect((await series()).mem.timestamps).toEqual(['2026-01-01 00:01:00.000', '2026-01-01 00:02:00.000'])
  })

  test('deployment metrics are empty before the container starts', async () => {
    const { series } = await running(500)
    expect((await series('?steps=1s')).cpu).toEqual({ labels: ['vCPU'], datasets: [], timestamps: [] })
  })

  test.each([
    ['start_time=2026-02-30%2000:00:00.0', 400, 'start_time: must be a time that exists'],
    ['end_time=2026-01-01%2025:00:00.0', 400, 'end_time: must be a time that exists'],
    ['start_time=2026-01-02%2000:00:00.0', 422, 'end_time: must be later than start_time'],
    ['start_time=2025-01-01%2000:00:00.0&steps=10s', 422, 'steps: at most 11000 points'],
    [
      'start_time=2026-01-02%2000:00:00.0&end_time=2026-01-01%2000:00:00.0',
      400,
      'end_time: must be later than start_time',
    ],
    ['steps=often', 400, 'steps: '],
  ])('deployment metrics are refused for %s', async (query, status, message) => {
    const { metrics } = await running(3_600_000)
    expect(await metrics(`?${query}`)).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
  })

  test('deployment metrics of an unknown deployment are answered with 404', async () => {
    const { call } = await studio()
    expect((await call('GET', '/v1/metrics/deployment/none')).status).toBe(404)
  })
})
