/** The program with a folder, as a process that can be killed, over a service in another one. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { start } from './processes.js'

const KEY = 'the-key-of-the-backend-of-the-game'
const main = fileURLToPath(new URL('../../packages/server/dist/cli/main.js', import.meta.url))
let program: ChildProcess | undefined

/** Ends the program that a failed test leaves. */
export const endProgram = (): void => void program?.kill('SIGKILL')

export interface Answer {
  /** 0: nobody answered, or the connection broke. */
  readonly status: number
  readonly text: string
}
interface Deployed {
  readonly tags: readonly string[]
  readonly current_status: string
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** @param more further sections of the configuration. */
export async function openProgramWorld(folder: string, name: string, more: object = {}) {
  const service = start('service-process.mjs', { seed: 1 })
  const { url } = await service.first<{ readonly url: string }>('listening')
  const port = await freePort()
  const path = join(folder, `${name}.yaml`)
  const sections = Object.entries(more).map(([section, given]) => `${section}: ${JSON.stringify(given)}`)
  writeFileSync(
    path,
    `
name: chaos
listen: { port: ${port} }
service: { url: ${url}, token: { env: TOKEN } }
queues: [{ name: duel, matchSize: 2, deploy: { application: game, version: '1' } }]
store: { folder: ${join(folder, name)} }
shutdown: { withinMs: 5000 }
auth: { keys: [{ name: game, role: backend, key: { env: KEY } }] }
limits: { delayMs: 60000 }
${sections.join('\n')}
`,
  )
  const ask = async (method: string, route: string, body?: object): Promise<Answer> => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}${route}`, {
        method,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: answer.status, text: await answer.text() }
    } catch {
      return { status: 0, text: '' }
    }
  }
  const begin = () => {
    const env = { ...process.env, TOKEN: 'dev', KEY }
    program = spawn(process.execPath, [main, 'serve', '-c', path], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(program as ChildProcess, 'exit')
    program?.kill(signal)
    await ended
  }
  /** Resolves with the exit code of a program that ends by itself. */
  const ended = async () => {
    const [code] = (await once(program as ChildProcess, 'exit')) as [number | null]
    return code
  }
  const until = async (isSo: () => Promise<boolean>) => {
    for (const deadline = Date.now() + 30_000; !(await isSo()); await sleep(50))
      if (Date.now() > deadline) throw new Error('it did not come to be in 30 s')
  }
  const ready = () => until(async () => (await ask('GET', '/readyz')).status === 200)
  const living = async () => {
    const answer = await service.ask<{ readonly deployments: readonly Deployed[] }>({}, 'deployments')
    return answer.deployments.filter(({ current_status }) => !/ERROR|TERMINAT/.test(current_status))
  }
  const store = join(folder, name, 'muster.log')
  return { ask, begin, end, ended, until, ready, living, store }
}
export type ProgramWorld = Awaited<ReturnType<typeof openProgramWorld>>

/** The match of a tag, at whichever attempt. */
export const matchIn = (tag: string) => tag.replace(/^match-/, '').replace(/-\d+$/, '')
