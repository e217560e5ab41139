/** Runs the program with a data directory as a process that can be killed. The service runs in another process. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { start } from './processes.js'

const KEY = 'the-key-of-the-backend-of-the-game'
/** The secret that signs players' tokens. */
const SECRET = 'a-secret-of-the-studio-that-signs-players'
const main = join(inject('bundles'), 'main.mjs')
let program: ChildProcess | undefined

/** Ends the program that a failed test has left running. */
export const endProgram = (): void => void program?.kill('SIGKILL')

export interface Answer {
  /** HTTP status; 0 if there was no answer or the connection broke. */
  readonly status: number
  readonly text: string
}
interface Deployed {
  readonly tags: readonly string[]
  readonly current_status: string
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Sections that extend or replace the configuration of a program with this address. */
type Sections = (own: { readonly url: string; readonly port: number }) => object

/** Creates a token of a player, valid for an hour. */
export function playerToken(id: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: id, exp: Math.floor(Date.now() / 1000) + 3600 })}`
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
}

/** @param processes arguments of service-process.mjs besides its seed */
export async function openProgramWorld(
  folder: string,
  name: string,
  more: Sections = () => ({}),
  processes: object = {},
) {
  const service = start('service-process.mjs', { seed: Number(process.env['CHAOS_SEED'] ?? 1), ...processes })
  const { url } = await service.first<{ readonly url: string }>('listening')
  const port = await freePort()
  const own = `http://127.0.0.1:${port}`
  const path = join(folder, `${name}.yaml`)
  /** Writes the configuration file as JSON, which is valid YAML. The program reads it at its next start. */
  const configure = (sections: Sections) =>
    writeFileSync(
      path,
      JSON.stringify({
        name: 'chaos',
        listen: { port },
        service: { url, token: { env: 'TOKEN' } },
        queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
        store: { folder: join(folder, name) },
        shutdown: { withinMs: 5000 },
        auth: { keys: [{ name: 'game', role: 'backend', key: { env: 'KEY' } }], jwt: { secret: { env: 'SECRET' } } },
        limits: { delayMs: 60_000 },
        ...sections({ url: own, port }),
      }),
    )
  configure(more)
  const ask = async (method: string, route: string, body?: object, token = KEY): Promise<Answer> => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${route}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, text: await answer.text() }
    } catch {
      return { status: 0, text: '' }
    }
  }
  const begin = () => {
    const env = { ...process.env, TOKEN: 'dev', KEY, SECRET }
    program = spawn(process.execPath, [main, 'serve', '-c', path], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(program as ChildProcess, 'exit')
    program?.kill(signal)
    await ended
  }
  /** Resolves with the exit code of the program, which must end by itself. */
  const ended = async () => {
    const [code] = (await once(program as ChildProcess, 'exit')) as [number | null]
    return code
  }
  const until = async (isSo: () => Promise<boolean>, withinMs = 30_000) => {
    for (const deadline = Date.now() + withinMs; !(await isSo()); await sleep(50))
      if (Date.now() > deadline) throw new Error(`it did not come to be in ${withinMs / 1000} s`)
  }
  const ready = () => until(async () => (await ask('GET', '/readyz')).status === 200)
  const living = async () => {
    const answer = await service.ask<{ readonly deployments: readonly Deployed[] }>({}, 'deployments')
    return answer.deployments.filter(({ current_status }) => !/ERROR|TERMINAT/.test(current_status))
  }
  const store = join(folder, name, 'muster.log')
  return { configure, ask, begin, end, ended, until, ready, living, store }
}
export type ProgramWorld = Awaited<ReturnType<typeof openProgramWorld>>

/** Returns the match id in a tag, without the number of the attempt. */
export const matchIn = (tag: string) => tag.replace(/^match-/, '').replace(/-\d+$/, '')
