import type { PoolDefinition } from '@muster/hosting'
import { RegistrationBody, ReportBody } from '@muster/hosting/internal'
import { setUp } from './matchmaker.fixture.js'

export const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  at: [{ cron: '* * * * *', minutes: 2, min: 2 }],
  custom: { perPlayer: 1, max: 3, emptySeconds: 60 },
}
/** A pool whose servers list themselves. Players cannot start servers of it. */
export const world: PoolDefinition = { ...arena, custom: undefined }
export const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]
export const browser = { attributes: { mode: { type: 'string' as const, values: ['ctf', 'dm'] } } }

export type Players = Record<string, 'in' | 'away'>

/**
 * Starts game servers of the pool. Each registers once it runs, has room for `takes` matches, is listed as ordered, and
 * reports every second.
 */
export function open(options: Parameters<typeof setUp>[0] = {}, takes = 1) {
  const world = setUp({ queues, pools: [arena], browser, service: { fate: () => ({ readyMs: 3000 }) }, ...options })
  const { matchmaker, service, clock } = world
  const servers: {
    token: string
    seq: number
    listing: Record<string, unknown> | undefined
    players: Players
    matches: readonly string[]
    /** Additional fields of its next reports. */
    says?: Record<string, unknown>
  }[] = []
  const report = async (server: (typeof servers)[number]) => {
    server.seq += 1
    const { token, seq, listing, players } = server
    const matches = server.matches.map((id) => ({ id, status: 'open' }))
    const body = {
      instance: token.slice(0, 20),
      seq,
      matches,
      ...server.says,
      ...(listing && { listing: { ...listing, players } }),
    }
    const orders = await matchmaker.reportServer(token, ReportBody.parse(body))
    if (orders.host !== undefined && listing?.['session'] !== orders.host.session)
      server.listing = { ...orders.host, seats: 8 }
    server.matches = orders.matches.map(({ id }) => id)
    return orders
  }
  const play = async () => {
    for (const [nth, record] of service.records.entries()) {
      const { tags, stopAskedAt, createdAt } = record
      if (stopAskedAt !== undefined || clock.now() < createdAt + 4000 || record.fate.errorMs !== undefined) continue
      const create = service.calls.create.find((input) => input.tags?.every((tag) => tags.includes(tag)))
      const token = create?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
      let server = servers[nth]
      if (server === undefined) {
        server = servers[nth] = { token, seq: 0, listing: undefined, players: {}, matches: [] }
        const registration = { instance: token.slice(0, 20), build: '7', matches: takes }
        matchmaker.registerServer(token, RegistrationBody.parse(registration))
      }
      await report(server)
    }
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      await world.run(1000)
      await play()
    }
  }
  /** Creates two servers that list themselves. */
  const listed = async (listing: Record<string, unknown> = {}) => {
    await run(8000)
    for (const [nth, server] of servers.entries())
      server.listing = { name: `world ${nth}`, seats: 2, attributes: { mode: 'ctf' }, ...listing }
    await run(1000)
    return matchmaker.listedServers().servers.map(({ id }) => id)
  }
  return { ...world, servers, run, listed, report }
}
