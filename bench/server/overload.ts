import { fork } from 'node:child_process'
import { Agent, request } from 'node:http'
import { atMost, type Figures } from '../figure.js'
import { follow } from '../followed.js'
import type { ServerState } from '../matchmaker/ticket-api-messages.js'
import { configuration, environment, tokenOf } from './configuration.js'
import type { Attack, Attacked, AttackKind } from './overload-messages.js'
import { startService } from './service.js'

const SECONDS = 6
const CAPACITY_SECONDS = 2
/** Load of the crowd, as a multiple of the program's capacity. */
const CROWD = 3.3
/** Milliseconds after an attack until the program refuses no more requests. */
const REST_MS = 3000
/** Milliseconds between two requests of the bystander, which are creates and reads in turns. */
const EVERY_MS = 20
/** A slower response counts as this many milliseconds. */
const LONGEST_MS = 10_000

/** The measurements of a bystander. */
interface Seen {
  /** 99th percentile of response times in milliseconds, without refused requests. */
  readonly p99: number
  /** Shares of the creates and of the reads that were refused with 503. */
  readonly refusedCreates: number
  readonly refusedReads: number
}

/**
 * Measures how long players wait for responses while others attack, as a multiple of the wait without an attack in the
 * same run.
 */
export async function overloadFigures(): Promise<Figures> {
  const service = await startService()
  const env = { ...process.env, ...environment }
  const text = configuration({ serviceUrl: service.url })
  const program = follow(fork(new URL('./program-process.js', import.meta.url), [text], { env }))
  const { port } = (await program.answer()) as ServerState
  const attacker = follow(fork(new URL('./overload-attack.js', import.meta.url)))
  await attacker.answer()
  const attack = (order: Omit<Attack, 'port'>) => attacker.ask({ ...order, port }) as Promise<Attacked>

  const bystander = createBystander(port)
  // The first requests only warm up the compiler.
  await attack({ kind: 'capacity', seconds: CAPACITY_SECONDS })
  await rest(REST_MS)
  const calm = await bystander.seen(rest(SECONDS * 1000))
  const capacity = perSecondOf(await attack({ kind: 'capacity', seconds: CAPACITY_SECONDS }))
  const attacked: Partial<Record<AttackKind, { seen: Seen; by: Attacked }>> = {}
  for (const kind of ['bodies', 'crowd', 'pipelined'] as const) {
    await rest(REST_MS)
    const under = attack({ kind, seconds: SECONDS, perSecond: CROWD * capacity })
    attacked[kind] = { seen: await bystander.seen(under), by: await under }
  }
  bystander.close()
  for (const { close } of [attacker, program]) close()
  await service.close()

  const figure = (kind: AttackKind, what: string, goal: number) => {
    const { seen, by } = attacked[kind] as { seen: Seen; by: Attacked }
    const percent = (share: number) => `${Math.round(100 * share)} %`
    const beside =
      `${Math.round(seen.p99)} of ${calm.p99.toFixed(1)} ms; ${percent(seen.refusedCreates)} of creates and ` +
      `${percent(seen.refusedReads)} of reads refused; ${Math.round(by.sent / by.seconds)} requests/s sent`
    return atMost(`program: p99 of a bystander, ${what}`, seen.p99 / calm.p99, goal, '×', beside)
  }
  return {
    figures: [
      figure('bodies', 'while one caller sends huge and wrong bodies', 20),
      figure('crowd', 'while a crowd sends 3.3 × of what can be answered', 200),
      figure('pipelined', 'while 100 connections pipeline 300 requests each', 50),
    ],
    peers: {
      'program: creates answered per second on 64 connections': Math.round(capacity),
      'program: answers to attackers by status, 0 for an ended connection': Object.fromEntries(
        Object.entries(attacked).map(([kind, { by }]) => [kind, by.answers]),
      ),
    },
  }
}

const rest = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const perSecondOf = ({ answers, seconds }: Attacked) =>
  Object.values(answers).reduce((sum, count) => sum + count, 0) / seconds

/** Simulates players who come one after another, whether or not earlier requests have been answered. */
function createBystander(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let players = 0
  /**
   * Sends a request. Resolves with the milliseconds until the response, and its status. Status 0: there was no
   * response.
   */
  const ask = (method: string, path: string, body: string) =>
    new Promise<{ readonly method: string; readonly ms: number; readonly status: number }>((resolve) => {
      const begun = performance.now()
      const headers = {
        authorization: `Bearer ${tokenOf(players, Date.now())}`,
        ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      }
      const failed = () => resolve({ method, ms: LONGEST_MS, status: 0 })
      const options = { port, host: '127.0.0.1', agent, method, path, headers, timeout: LONGEST_MS }
      const asked = request(options, (answer) => {
        const status = answer.statusCode ?? 0
        answer.resume().once('end', () => resolve({ method, ms: performance.now() - begun, status }))
      })
      asked
        .on('timeout', () => asked.destroy())
        .on('error', failed)
        .end(body)
    })
  return {
    seen: async (meanwhile: Promise<unknown>): Promise<Seen> => {
      const over = new AbortController()
      void meanwhile.then(() => over.abort())
      const asked: ReturnType<typeof ask>[] = []
      const begun = performance.now()
      while (!over.signal.aborted) {
        players += 1
        asked.push(asked.length % 2 === 0 ? ask('POST', '/tickets', '{"profile":"duel"}') : ask('GET', '/me', ''))
        await rest(begun + asked.length * EVERY_MS - performance.now())
      }
      const all = await Promise.all(asked)
      const wrong = all.find(({ status }) => ![0, 200, 201, 404, 503].includes(status))
      if (wrong !== undefined) throw new Error(`a bystander was answered ${wrong.status}`)
      const times = all
        .filter(({ status }) => status !== 503)
        .map(({ ms }) => ms)
        .toSorted((one, other) => one - other)
      const refused = (method: string) => {
        const those = all.filter((one) => one.method === method)
        return those.filter(({ status }) => status === 503).length / those.length
      }
      const p99 = times[Math.floor(times.length * 0.99)] ?? LONGEST_MS
      return { p99, refusedCreates: refused('POST'), refusedReads: refused('GET') }
    },
    close: () => agent.destroy(),
  }
}
