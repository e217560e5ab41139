import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { atMost, type Figures, median } from '../figure.js'
import { configuration, environment, tokenOf } from './configuration.js'
import { startService } from './service.js'

const BUILT = new URL('cli/main.js', import.meta.resolve('@muster/server'))
const SERVER = new URL('../../', BUILT)
const STARTS = 9
/** Milliseconds between two attempts to connect. */
const TRY_EVERY_MS = 2

/** Milliseconds after the program's first response for which it is left idle. Then its memory is measured. */
const RESTS_MS = 2000

/**
 * Measures how soon `muster serve` answers a player after its start, and its memory when idle. It runs as it is packed,
 * with tickets in memory and in a folder, and from its modules.
 */
export async function startFigures(): Promise<Figures> {
  const service = await startService()
  const folder = await mkdtemp(join(tmpdir(), 'muster-bench-'))
  const { home, command } = await packed()
  const builds = [
    { command, store: undefined, runs: [] as Start[] },
    { command, store: join(folder, 'data'), runs: [] as Start[] },
    { command: fileURLToPath(BUILT), store: undefined, runs: [] as Start[] },
  ] as const
  for (let nth = 0; nth < STARTS; nth += 1) {
    for (const { command: program, store, runs } of builds) {
      const port = await freePort()
      const path = join(folder, 'muster.yaml')
      await writeFile(path, configuration({ serviceUrl: service.url, folder: store, port }))
      runs.push(await startOf(program, path, port))
    }
  }
  await service.close()
  for (const made of [folder, home]) await rm(made, { recursive: true, force: true })
  const [memory, stored, modules] = builds.map(({ runs }) => runs.map(({ ms }) => ms)) as [number[], number[], number[]]
  const beside = `from its modules ${median(modules).toFixed(0)} ms`
  return {
    figures: [
      atMost('program: start to the first answer, memory', memory, 300, 'ms', beside),
      atMost('program: start to the first answer, folder', stored, 300, 'ms'),
      atMost(
        'program: memory at rest',
        builds[0].runs.map(({ mb }) => mb),
        90,
        'MB',
        `from its modules ${median(builds[2].runs.map(({ mb }) => mb)).toFixed(0)} MB`,
      ),
    ],
    peers: {},
  }
}

/**
 * Bundles the program as for a release. The folder is below the server's `node_modules`, so that the bundle finds the
 * native module, which it does not contain.
 */
async function packed() {
  const cache = fileURLToPath(new URL('node_modules/.cache/', SERVER))
  await mkdir(cache, { recursive: true })
  const home = await mkdtemp(join(cache, 'packed-'))
  await copyFile(new URL('package.json', SERVER), join(home, 'package.json'))
  execFileSync(process.execPath, [fileURLToPath(new URL('bundle.mjs', SERVER)), join(home, 'dist')], {
    stdio: 'ignore',
  })
  return { home, command: join(home, 'dist/cli/main.js') }
}

interface Start {
  /** Milliseconds until a player's request was answered. */
  readonly ms: number
  /** Megabytes of resident memory when idle. */
  readonly mb: number
}

/** Starts a process, measures it, and ends it. */
async function startOf(command: string, path: string, port: number): Promise<Start> {
  const headers = { authorization: `Bearer ${tokenOf(1, Date.now())}` }
  const before = performance.now()
  const args = [command, 'serve', '-c', path]
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  const program = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: [...stdio] })
  const ended = once(program, 'exit')
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/queues`, { headers }).catch(() => undefined)
      if (answer?.ok === true) {
        const ms = performance.now() - before
        await sleep(RESTS_MS)
        return { ms, mb: residentMb(program.pid as number) }
      }
      // A program that already listens but is not ready answers 503.
      if (answer !== undefined && answer.status !== 503)
        throw new Error(`the program answers ${answer.status}: ${await answer.text()}`)
      if (program.exitCode !== null) throw new Error(`the program ended with ${program.exitCode}`)
      await sleep(TRY_EVERY_MS)
    }
  } finally {
    program.kill('SIGTERM')
    await ended
  }
}

/** Returns the resident memory of a process in megabytes. */
const residentMb = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
