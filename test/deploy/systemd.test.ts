/** Starts the command of the systemd unit under the socket filter that the unit requests. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEmulator } from '@muster/emulator'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const preload = fileURLToPath(new URL('restrict-address-families.mjs', import.meta.url))
const text = readFileSync(join(root, 'deploy/systemd/muster.service'), 'utf8')
/** Numbers of the address families on Linux, by their names in <sys/socket.h>. */
const FAMILIES: Readonly<Record<string, number>> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 }

function settingOf(name: string): string {
  const found = new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error(`the unit has no ${name}`)
  return found
}

/** Starts the program like the unit, in temporary folders. Returns the program's output until it was asked to end. */
async function start(families: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'muster-unit-'))
  const emulator = createEmulator({})
  const { url } = await emulator.listen()
  const state = join(folder, 'state')
  mkdirSync(state)
  const config = join(folder, 'muster.yaml')
  const queues = "queues:\n  - { name: duel, matchSize: 2, deploy: { application: game, version: '1' } }\n"
  const service = `service: { url: '${url}', token: { env: MUSTER_TOKEN } }\n`
  const listen = "listen: { port: 0, host: '127.0.0.1' }\n"
  writeFileSync(config, `${listen}${service}store: { folder: '${state}' }\n${queues}`)
  const [, , ...given] = settingOf('ExecStart').split(' ')
  const args = given.map((word) => (word === '/etc/muster/muster.yaml' ? config : word))
  const program = join(root, 'packages/server/dist/cli/main.js')
  const numbers = families.map((family) => FAMILIES[family] ?? expect.unreachable(`${family} is unknown`))
  const child = spawn(process.execPath, ['--import', preload, program, ...args], {
    env: { PATH: process.env['PATH'], MUSTER_TOKEN: 'dev', FAMILIES: numbers.join() },
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (output += data.toString()))
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    await emulator.close()
    rmSync(folder, { recursive: true })
  })
  return { output: () => output, exited, end: () => child.kill('SIGTERM'), isRunning: () => child.exitCode === null }
}

test('the systemd unit starts the program of the package that it names', () => {
  const [, path = ''] = settingOf('ExecStart').split(' ')
  const [, inPackage] = path.split('/@muster/server/')
  expect(existsSync(join(root, 'packages/server', inPackage ?? 'nothing'))).toBe(true)
})

test('the systemd unit repeats a start that fails without an end, and the journal has the reason', async () => {
  expect([settingOf('Restart'), settingOf('StartLimitIntervalSec')]).toEqual(['always', '0'])
  expect(text).not.toContain('RestartPreventExitStatus')
  const program = join(root, 'packages/server/dist/cli/main.js')
  const child = spawn(process.execPath, [program, 'serve', '-c', 'none.yaml'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let reason = ''
  child.stderr.on('data', (data: Buffer) => (reason += data.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  expect([code, reason]).toEqual([2, expect.stringContaining('none.yaml: error: does not exist')])
})

const own = settingOf('RestrictAddressFamilies').split(' ')
const isLinux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)

describe.runIf(isLinux)('the systemd setting RestrictAddressFamilies', () => {
  test.each([
    ['as in the unit', own],
    ['without AF_NETLINK, as in units of earlier versions', own.filter((family) => family !== 'AF_NETLINK')],
  ])('the server starts, serves and ends under RestrictAddressFamilies: %s', async (_, families) => {
    const unit = await start(families)
    await expect.poll(() => unit.isRunning() && unit.output()).toContain('"text":"listening"')
    unit.end()
    expect(await unit.exited).toBe(0)
    expect(unit.output()).toContain('Shutdown complete.')
  })
})
