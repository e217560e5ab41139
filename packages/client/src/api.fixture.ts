import { createManualClock, seededRandom } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { createMatchmaker, createTicketApi, type PoolDefinition, type QueueDefinition } from '@muster/matchmaker'
import { createTestService } from '@muster/hosting/service-fixture'
import { onTestFinished } from 'vitest'
import { createMachine, type Machine } from './machine.js'
import { connect as connectMachine, type MusterOptions } from './muster.js'

const deploy = { application: 'game', version: '1' }
const queues: readonly QueueDefinition[] = [
  { name: 'duel', matchSize: 2, deploy },
  { name: 'ranked', matchSize: 2, deploy, acceptance: { withinMs: 10_000 } },
]

/** What happens to a request on its way to Muster and back. */
export type Fate = 'arrives' | 'lost' | 'answer lost' | 'twice' | 'proxy page' | 'login page' | 'late' | 'at once'

/** The ticket API over a real matchmaker in this process, with clients whose connections break as the test demands. */
export function openApi(more: Partial<MusterOptions> = {}, pools: readonly PoolDefinition[] = []) {
  const clock = createManualClock({ start: Date.parse('2026-11-26T12:00:00Z') })
  const { deployments, calls } = createTestService({ clock, fate: () => ({ readyMs: 3000 }) })
  const random = seededRandom(7)
  const matchmaker = createMatchmaker({ deployments, queues, pools, clock, random })
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined || id === 'old' ? undefined : { id }
    },
    clock,
    random,
  })
  matchmaker.start()
  const sent: string[] = []

  /** @param fate returns the fate of each request */
  const fetchWith =
    (fate: () => Fate): typeof fetch =>
    async (input, init) => {
      const url = String(input)
      sent.push(`${init?.method} ${url.replace('http://play.example', '')}`)
      const now = fate()
      // A caching proxy answers a long poll at once, without waiting for a change.
      const asked = now === 'at once' ? url.replace(/\?wait=.*/, '') : url
      const go = () => api(new Request(asked, init as RequestInit), { remoteAddress: '192.0.2.7' })
      if (now === 'lost') return untilAborted(init?.signal)
      if (now === 'proxy page') return new Response('<html>Bad gateway</html>', { status: 502 })
      if (now === 'login page') return new Response('<html>Who are you?</html>', { status: 401 })
      if (now === 'late') await clock.sleep(3000)
      const answer = await go()
      // A group's creation is not sent twice: the second create would abandon the first group, which would only expire.
      if (now === 'twice' && !url.endsWith('/groups')) await go()
      if (now === 'answer lost') return untilAborted(init?.signal)
      return answer
    }

  const connect = (
    player: string,
    fate: () => Fate = () => 'arrives',
    given: Partial<MusterOptions> = {},
    wrap: (machine: Machine) => Machine = (machine) => machine,
  ) => {
    const all: MusterOptions = {
      url: 'http://play.example',
      token: player,
      follow: 'poll',
      fetch: fetchWith(fate),
      clock,
      random: seededRandom(player.length),
      ...more,
      ...given,
    }
    return connectMachine(all, wrap(createMachine(all.random ?? (() => 0.5))))
  }

  /** Advances time, a second at a time, so that long polls and rounds run in between. */
  const run = async (seconds: number) => {
    for (let nth = 0; nth < seconds; nth += 1) await clock.advance(1000)
  }
  /** The token of the first server that was created. */
  const tokenOfServer = () =>
    calls.create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  /** Closes the matchmaker. It stops servers by requests, so time must pass meanwhile. */
  const close = async () => {
    let isClosed = false
    void matchmaker.close().then(() => (isClosed = true))
    while (!isClosed) await clock.advance(1000)
  }
  return { clock, matchmaker, api, sent, tokenOfServer, connect, run, fetchWith, close }
}

/** Collects unhandled errors until the end of the test, so that they do not fail it. */
export function gatherFaults(): unknown[] {
  const faults: unknown[] = []
  const onFault = (fault: unknown) => void faults.push(fault)
  process.on('unhandledRejection', onFault)
  onTestFinished(() => void process.off('unhandledRejection', onFault))
  return faults
}

const untilAborted = (signal: AbortSignal | null | undefined) =>
  new Promise<never>((_, reject) => {
    if (signal?.aborted) reject(signal.reason)
    signal?.addEventListener('abort', () => reject(signal.reason))
  })
