import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi, type MatchmakerOptions } from '@muster/matchmaker'
import type { GameServer } from './game-server.js'
import type { Environment } from './environment.js'

/** Starts a game server instead of a deployment's container. */
export type Play = (env: Environment) => GameServer

/** Muster over loopback: its ticket API, its matchmaker, and the emulator with servers of `play` as containers. */
export async function openStack(play: Play, options: Partial<MatchmakerOptions> = {}) {
  let api: (request: Request) => Promise<Response> = async () => new Response(null, { status: 503 })
  const listener: Server = createServer(nodeListener((request) => api(request)))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const servers: GameServer[] = []
  const emulator = createEmulator({
    limits: false,
    page: false,
    token: 'of-the-service',
    deployTimes: { seekMs: 5, deployMs: 10, cachedDeployMs: 10, spread: 0 },
    launch: ({ env }) => {
      const server = play(env)
      servers.push(server)
      let exit = (_code: number) => {}
      const exited = new Promise<number>((resolve) => (exit = resolve))
      return { exited, stop: () => exit(0), logs: () => '' }
    },
  })
  const { url: service } = await emulator.listen()
  const client = createClient({ baseUrl: service, token: 'of-the-service' })
  await client.applications.create({ name: 'game' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/game', docker_tag: '1' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  await client.versions.create({ app_name: 'game', name: '1', ...image, req_cpu: 512, req_memory: 512, ports })
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [
      {
        name: 'duel',
        pool: 'arena',
        teams: [
          { name: 'red', size: 1 },
          { name: 'blue', size: 1 },
        ],
      },
    ],
    pools: [
      {
        name: 'arena',
        deploy: { application: 'game', version: '1' },
        places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
        reuse: { maxMatches: 100 },
        custom: {},
      },
    ],
    apiUrl: url,
    tickMs: 20,
    ...options,
  })
  const authenticate = (request: Request) => {
    const id = request.headers.get('authorization')?.replace('Bearer ', '')
    return id === undefined ? undefined : { id }
  }
  const ticketApi = createTicketApi(matchmaker, { authenticate })
  api = (request) => ticketApi(request, { remoteAddress: '192.0.2.7' })
  matchmaker.start()

  const call = async (player: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${player}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, json: (await answer.json().catch(() => undefined)) as never }
  }
  return {
    url,
    matchmaker,
    servers,
    call,
    /** Queues a player. Resolves with the assignment. */
    join: async (player: string): Promise<Assignment> => {
      const { status, json } = await call(player, 'POST', '/tickets', { profile: 'duel' })
      if (status !== 201) throw new Error(`creating a ticket for ${player} failed: ${status} ${JSON.stringify(json)}`)
      return assignmentOf(player, call)
    },
    /** Resolves with the assignment of a waiting player. */
    assigned: (player: string) => assignmentOf(player, call),
    /** Disconnects Muster's API from the network, and reconnects it. */
    cut: () => {
      const before = api
      api = async () =>
        new Response('<html>Bad gateway</html>', { status: 502, headers: { 'content-type': 'text/html' } })
      return () => (api = before)
    },
    close: async () => {
      await matchmaker.close({ stopServers: true })
      await client.close()
      await emulator.close()
      listener.close()
      listener.closeAllConnections()
    },
  }
}

export interface Assignment {
  readonly match_id: string
  readonly join_token: string
}

interface Assigned {
  readonly match_id: string
  readonly assignment?: { readonly join_token: string } | null
}

type Call = (player: string, method: string, path: string) => Promise<{ readonly json: never }>

/** The response of `GET /me` once the player is assigned. */
async function assignmentOf(player: string, call: Call): Promise<Assignment> {
  for (let waited = 0; waited < 30_000; waited += 50) {
    const { json } = await call(player, 'GET', '/me')
    const { tickets } = json as { readonly tickets?: readonly Assigned[] }
    const found = tickets?.find((ticket) => ticket.assignment)
    if (found?.assignment) return { match_id: found.match_id, join_token: found.assignment.join_token }
    await systemClock.sleep(50)
  }
  throw new Error(`the ticket of ${player} was not assigned a server`)
}
