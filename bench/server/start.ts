import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atMost, type Figures } from '../figure.js'
import { configuration, environment, tokenOf } from './configuration.js'
import { startService } from './service.js'

const COMMAND = fileURLToPath(new URL('cli/main.js', import.meta.resolve('@muster/server')))
const STARTS = 7
/** Between two attempts to connect, in milliseconds. */
const TRY_EVERY_MS = 2

/** How soon `muster serve` answers a player after it was started: with tickets in memory and in a folder. */
export async function startFigures(): Promise<Figures> {
  const service = await startService()
  const folder = await mkdtemp(join(tmpdir(), 'muster-bench-'))
  const stores = { memory: undefined, folder: join(folder, 'data') }
  const took: Record<keyof typeof stores, number[]> = { memory: [], folder: [] }
  for (let nth = 0; nth < STARTS; nth += 1) {
    for (const store of ['memory', 'folder'] as const) {
      const port = await freePort()
      const path = join(folder, 'muster.yaml')
      await writeFile(path, configuration({ serviceUrl: service.url, folder: stores[store], port }))
      took[store].push(await startOf(path, port))
    }
  }
  await service.close()
  await rm(folder, { recursive: true, force: true })
  return {
    figures: [
      atMost('program: start to the first answer, memory', took.memory, 700, 'ms'),
      atMost('program: start to the first answer, folder', took.folder, 700, 'ms'),
    ],
    peers: {},
  }
}

/** Milliseconds until a player's request is answered by a process that is started now. */
async function startOf(path: string, port: number): Promise<number> {
  const headers = { authorization: `Bearer ${tokenOf(1, Date.now())}` }
  const before = performance.now()
  const args = [COMMAND, 'serve', '-c', path]
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  const program = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: [...stdio] })
  const ended = once(program, 'exit')
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/queues`, { headers }).catch(() => undefined)
      if (answer?.ok === true) return performance.now() - before
      if (answer !== undefined) throw new Error(`the program answers ${answer.status}: ${await answer.text()}`)
      if (program.exitCode !== null) throw new Error(`the program ended with ${program.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS))
    }
  } finally {
    program.kill('SIGTERM')
    await ended
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
