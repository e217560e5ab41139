import type { MatchRecord, ServerRecord } from '@muster/matchmaker/internal'
import { encodeHeader, type Commit, type NewTicket, type PartitionStore } from '@muster/redis/internal'

export interface Workload {
  /** Creates this many tickets, while earlier ones continue through their lives. */
  run(tickets: number): Promise<void>
}

interface WorkloadOptions {
  readonly perMatch: number
  /** Approximate number of tickets of each call. */
  readonly batch: number
  /** Number of tickets that wait while others are matched. */
  readonly standing: number
}

const AT = 1_763_783_640_000
const ASSIGNMENT = {
  fqdn: 'abcdef.pr.example.com',
  publicIp: '203.0.113.7',
  ports: { game: { internal: 7777, external: 31_234, protocol: 'UDP', link: 'abcdef.pr.example.com:31234' } },
  location: undefined,
}

const idOf = (kind: string, number: number) => kind + number.toString(36).padStart(19, '0')
const playerOf = (number: number) => `player-${number}`

function ticketOf(number: number): NewTicket {
  const coordinates = { latitude: 48.85 + (number % 100) / 100, longitude: 2.35 }
  const attributes = { skill: 1200 + (number % 500), mode: 'ranked', level: number % 60 }
  const player = { id: playerOf(number), coordinates, attributes, roles: ['tank', 'healer'] }
  const body = JSON.stringify({ queues: ['ranked'], players: [player], priority: 0 })
  return { id: idOf('tk', number), body, players: [player.id] }
}

function matchOf(number: number, perMatch: number) {
  const matchId = idOf('ma', number)
  const numbers = Array.from({ length: perMatch }, (_, index) => number * perMatch + index)
  const ticketIds = numbers.map((each) => idOf('tk', each))
  const playerIds = numbers.map(playerOf)
  const match = { matchId, queue: 'ranked', ticketIds, playerIds, at: AT, serverId: matchId }
  const server = { serverId: matchId, queue: 'ranked', tag: `match-${matchId}`, at: AT, bornFor: matchId, isUp: false }
  const matched = { attempts: 0, matchId, queue: 'ranked', matchedAt: AT }
  return {
    matchId,
    ticketIds,
    playerIds,
    match,
    server,
    matched,
    team: (index: number) => (index % 2 === 0 ? 'red' : 'blue'),
  }
}
type Match = ReturnType<typeof matchOf>
const ofMatch = (match: Partial<MatchRecord>) => ({ key: `m:${match.matchId}`, text: JSON.stringify(match) })
const ofServer = (server: Partial<ServerRecord>) => ({ key: `s:${server.serverId}`, text: JSON.stringify(server) })

/** The commits of a match, in order. */
const STEPS: readonly ((match: Match) => Commit)[] = [
  ({ ticketIds, match, server, matched, team }) => ({
    headers: ticketIds.map((ticketId, index) => {
      return { ticketId, header: encodeHeader({ ...matched, version: 2, status: 'MATCH_FOUND', team: team(index) }) }
    }),
    hosting: [[{ ...ofMatch(match), requires: ticketIds }, ofServer(server)]],
  }),
  ({ server }) => ({ hosting: [[ofServer({ ...server, sentAt: AT })]] }),
  ({ server }) => ({ hosting: [[ofServer({ ...server, sentAt: AT, requestId: 'abcdef123456' })]] }),
  ({ ticketIds, match, server }) => {
    const playing = { ...ofMatch({ ...match, playingSince: AT }), requires: ticketIds, locks: true }
    const up = { ...server, sentAt: AT, requestId: 'abcdef123456', isUp: true, assignment: ASSIGNMENT }
    return { hosting: [[playing, ofServer(up)]] }
  },
  ({ ticketIds, matched, team }) => ({
    headers: ticketIds.map((ticketId, index) => {
      const assigned = { ...matched, team: team(index), assignedAt: AT, assignment: ASSIGNMENT }
      return { ticketId, header: encodeHeader({ ...assigned, version: 3, status: 'HOST_ASSIGNED' }) }
    }),
  }),
  ({ matchId, ticketIds, playerIds }) => ({
    hosting: [
      [
        { key: `s:${matchId}` },
        {
          key: `m:${matchId}`,
          ends: ticketIds.map((ticketId, index) => ({ ticketId, players: [playerIds[index] as string] })),
        },
      ],
    ],
  }),
]

/**
 * Number of batches after which a match takes each of its steps. Its server is created at once and runs for a short
 * time.
 */
const DELAYS = [0, 10, 12, 14, 15, 30]
/** Milliseconds for which tickets are kept after their end. */
const KEPT_MS = 200

const together = (commits: readonly Commit[]): Commit => ({
  headers: commits.flatMap(({ headers = [] }) => headers),
  hosting: commits.flatMap(({ hosting = [] }) => hosting),
})

/**
 * Creates a workload of tickets, which are moved as followers and a leader would move them, many in each call. Throws
 * if a call is refused.
 */
export async function createWorkload(store: PartitionStore, options: WorkloadOptions): Promise<Workload> {
  const { perMatch } = options
  const batch = options.batch - (options.batch % perMatch)
  const standing = Math.ceil(options.standing / batch) * batch
  const leading = await store.acquire('bench', 600_000)
  if (leading.kind !== 'acquired') throw new Error('another leader is there')
  const { token } = leading
  let { cursor } = await store.inbox(undefined, { blockMs: 0 })
  let next = 0

  const create = async (from: number) => {
    const outcomes = await store.create(Array.from({ length: batch }, (_, index) => ticketOf(from + index)))
    if (outcomes.some(({ kind }) => kind !== 'created')) throw new Error('a ticket was not created')
  }
  const read = async () => {
    const inbox = await store.inbox(cursor, { blockMs: 0 })
    cursor = inbox.cursor
    await store.read(inbox.entries.flatMap((entry) => (entry.kind === 'created' ? entry.ticketIds : [])))
  }
  const commit = async (step: (match: Match) => Commit, from: number) => {
    const matches = Array.from({ length: batch / perMatch }, (_, index) => matchOf(from / perMatch + index, perMatch))
    const { refused, unmet } = await store.commit(token, together(matches.map(step)))
    if (refused.length + unmet.length > 0) throw new Error('a commit was refused')
  }

  return {
    run: async (tickets) => {
      for (const end = next + tickets; next < end; next += batch) {
        const due = STEPS.map((step, index) => ({ step, from: next - standing - (DELAYS[index] as number) * batch }))
        const commits = due.filter(({ from }) => from >= 0).map(({ step, from }) => commit(step, from))
        await Promise.all([create(next), read(), ...commits, store.sweep(token, KEPT_MS, 4 * batch)])
      }
    },
  }
}
