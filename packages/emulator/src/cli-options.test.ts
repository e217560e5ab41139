import { expect, test } from 'vitest'
import { readCommandLine } from './cli-options.js'

const read = (line: string, files: Readonly<Record<string, string>> = {}) =>
  readCommandLine(line === '' ? [] : line.split(' '), (path) => {
    const text = files[path]
    if (text === undefined) throw new Error('ENOENT')
    return text
  })

test('muster-emulator without flags uses the default options', () => {
  const { help, listen, emulator } = read('')
  expect([help, listen]).toEqual([false, { port: undefined, host: undefined }])
  expect(emulator).toEqual({
    random: expect.any(Function),
    limits: { algorithm: 'sliding log' },
    beacons: {},
    deployments: {},
    relayData: { authDelayMs: 1500 },
  })
})

test('every flag of muster-emulator sets its option', () => {
  const line =
    '--port 8080 --host 0.0.0.0 --allow-host emulator --allow-host dev.test --token secret --speed 20' +
    ' --limits token-bucket --retry-after date --latency 30 --jitter 10 --capacity 5 --relay 192.0.2.7' +
    ' --beacons 192.0.2.8 --ping-from 52.5,-13.4 --webhooks any --image a/b:v1 --image host:5000/c:v2' +
    ' --faults faults.json --as observed'
  const faults = [{ operation: '*', status: 500 }]
  const { listen, emulator } = read(line, { 'faults.json': JSON.stringify(faults) })
  expect(listen).toEqual({ port: 8080, host: '0.0.0.0', allowedHosts: ['emulator', 'dev.test'] })
  expect(emulator).toEqual({
    token: 'secret',
    as: 'observed',
    speed: 20,
    random: expect.any(Function),
    limits: { algorithm: 'token bucket', retryAfter: 'date' },
    latencyMs: 30,
    jitterMs: 10,
    capacity: 5,
    beacons: { host: '192.0.2.8', from: { latitude: 52.5, longitude: -13.4 } },
    deployments: { webhookHosts: 'any' },
    relayData: { host: '192.0.2.7', authDelayMs: 1500 },
    images: [
      { image: 'a/b', tag: 'v1' },
      { image: 'host:5000/c', tag: 'v2' },
    ],
    faults,
  })
})

test('the flag --seed of muster-emulator decides all random values', () => {
  const drawn = (line: string) => read(line).emulator.random?.()
  expect(drawn('--seed 7')).toBe(drawn('--seed 7'))
  expect(drawn('--seed 7')).not.toBe(drawn('--seed 8'))
  expect(drawn('--seed 1')).toBe(drawn(''))
})

test('--limits and --retry-after can turn limits and Retry-After off', () => {
  expect(read('--limits none').emulator.limits).toBe(false)
  expect(read('--retry-after none').emulator.limits).toEqual({ algorithm: 'sliding log', retryAfter: false })
})

test('--relay none turns relay traffic off', () => {
  expect(read('--relay none').emulator.relayData).toBe(false)
})

test('--beacons none turns beacons off', () => {
  expect(read('--beacons none').emulator.beacons).toBe(false)
})

test('--end-with-parent sets endWithParent', () => {
  expect([read('').endWithParent, read('--end-with-parent').endWithParent]).toEqual([false, true])
})

test.each([
  ['--port 70000', '--port must be a port number, got 70000'],
  ['--port http', '--port must be a number, got "http"'],
  ['--speed fast', '--speed must be a number, got "fast"'],
  ['--limits leaky', '--limits must be sliding-log, fixed-window, token-bucket or none, got leaky'],
  ['--retry-after soon', '--retry-after must be seconds, date or none, got soon'],
  ['--ping-from 52.5', '--ping-from must be latitude,longitude in degrees, got "52.5"'],
  ['--ping-from ,1', '--ping-from must be latitude,longitude in degrees, got ",1"'],
  ['--webhooks none', '--webhooks must be loopback or any, got none'],
  ['--image server', '--image must be name:tag, got "server"'],
  ['--faults none.json', '--faults: none.json cannot be read as JSON'],
  ['--sped 20', "Unknown option '--sped'"],
  ['serve', "Unexpected argument 'serve'"],
])('the flags %s are refused with a reason', (line, message) => {
  expect(() => read(line)).toThrow(message)
})
