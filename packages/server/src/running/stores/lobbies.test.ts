import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, type ManualClock } from '@muster/core/clock'
import { StoreUnavailable } from '@muster/core'
import {
  AlreadyAssigned,
  type MatchmakerEvents,
  type Ticket,
  type TicketService,
  UnknownTicket,
} from '@muster/matchmaker'
import { createMemoryLobbyStore, type Lobbies, type LobbyStore } from '@muster/relay'
import { expect, test } from 'vitest'
import { signShared } from '../../auth/jwks.fixture.js'
import { openLobbies } from './lobbies.js'
import { BACKEND_KEY, freePort, JWT_SECRET, openServer, openService, yamlOf } from '../server.fixture.js'

test('a lobby whose match was on a pool server can start again once the match is over', async () => {
  const service = await openService({ gameServers: { matchMs: 36_000_000 } })
  const port = await freePort()
  const more = `
listen: { port: ${port}, publicUrl: 'http://127.0.0.1:${port}' }
lobbies: { enabled: true, startAs: match, queue: solo }
pools:
  - name: arena
    deploy: { application: my-game, version: '1.0' }
    reuse: { maxMatches: 20 }
`
  const text = yamlOf(service.url, more, '\n  - { name: solo, matchSize: 1, pool: arena }\n')
  const { server, ask } = await openServer(text.replace('listen: { port: 0 }\n', ''))
  try {
    const token = await signShared({ sub: 'ann' }, JWT_SECRET, Math.floor(Date.now() / 1000) + 3600)
    const of = async <Body>(method: string, path: string, options: object = { token }) =>
      (await (await ask(method, path, options)).json()) as Body
    const { lobbyId } = await of<{ lobbyId: string }>('POST', '/lobbies', { token, body: { maxPlayers: 4 } })
    await ask('POST', `/lobbies/${lobbyId}/start`, { token })
    const lobby = () => of<{ phase: string; run?: { assignment?: { match: string } } }>('GET', `/lobbies/${lobbyId}`)
    const matchId = async () => (await lobby()).run?.assignment?.match
    await expect.poll(matchId).toBeDefined()
    await ask('DELETE', `/matches/${await matchId()}`, { token: BACKEND_KEY })
    await expect.poll(lobby).toMatchObject({ phase: 'open' })
  } finally {
    await server.close()
    await service.emulator.close()
  }
}, 60_000)

test('after kill -9 with a folder, the players of a lost lobby do not wait for a match any more', async () => {
  const service = await openService()
  const folder = await mkdtemp(join(tmpdir(), 'muster-lobbies-'))
  const textIn = (name: string) =>
    yamlOf(
      service.url,
      `store: { folder: ${join(folder, name)} }\nlobbies: { enabled: true, startAs: match, queue: duel }`,
    )
  const first = await openServer(textIn('first'))
  try {
    const token = await signShared({ sub: 'ann' }, JWT_SECRET, Math.floor(Date.now() / 1000) + 3600)
    const created = await first.ask('POST', '/lobbies', { token, body: { maxPlayers: 4 } })
    const { lobbyId } = (await created.json()) as { lobbyId: string }
    await first.ask('POST', `/lobbies/${lobbyId}/start`, { token })
    const ticketsAt = async ({ ask }: typeof first) =>
      ((await (await ask('GET', '/me', { token })).json()) as { tickets: readonly unknown[] }).tickets
    await expect.poll(() => ticketsAt(first)).toHaveLength(1)
    // The files are as a killed process leaves them.
    await cp(join(folder, 'first'), join(folder, 'second'), { recursive: true })
    const second = await openServer(textIn('second'))
    try {
      await expect.poll(() => ticketsAt(second)).toEqual([])
    } finally {
      await second.server.close()
    }
  } finally {
    await first.server.close()
    await service.emulator.close()
    await rm(folder, { recursive: true })
  }
}, 60_000)

interface ByMember {
  readonly lobbyId: string
  readonly playerId: string
}

/** Opens the lobbies of a process. Also returns the events that its matchmaker emits. */
async function openProcess(lobbyStore: LobbyStore, clock: ManualClock, service: Partial<TicketService> = {}) {
  const dateOf = (at = clock.now()) => at
  const getTicket = async () => undefined
  const listeners = new Map<string, (event: never) => void>()
  const problems: unknown[] = []
  let takeOver = () => {}
  const opened = await openLobbies({
    config: { lobbies: { enabled: true, startAs: 'match', queue: 'duel' }, queues: [] } as never,
    client: undefined,
    webhookUrl: undefined,
    clock,
    onProblem: (_, error) => problems.push(error),
    service: { createTicket: async () => ({}), dateOf, getTicket, ...service } as unknown as TicketService,
    matching: {
      on: (name, listener) => listeners.set(name, listener as never).size as never,
      onTakeover: (listener) => (takeOver = listener),
      shared: { lobbies: lobbyStore },
    },
  })
  if (opened === undefined) throw new Error('lobbies are enabled')
  const emit = (name: string, event: object) => listeners.get(name)?.(event as never)
  return { opened, lobbies: opened.lobbies, problems, emit, takeOver: () => takeOver() }
}

/** Creates a lobby and starts it. Returns the key of the start, which is the id of its ticket. */
async function startLobby(lobbies: Lobbies, clock: ManualClock) {
  const { lobbyId } = await lobbies.create({ player: { id: 'ann', ip: '192.0.2.1' }, maxPlayers: 4 })
  const ann = { lobbyId, playerId: 'ann' }
  await lobbies.start(ann)
  await clock.advance(100)
  const { run } = await lobbies.get(ann)
  if (run?.status !== 'handed-over') throw new Error('the lobby was not handed over')
  return { ann, key: run.reference }
}

const port = { internal: 7777, external: 31_000, protocol: 'UDP', name: 'game port', link: undefined }
const assigned: Pick<MatchmakerEvents['serverAssigned'], 'matchId' | 'assignment'> = {
  matchId: 'm1',
  assignment: { fqdn: 'm1.example.com', publicIp: '203.0.113.7', ports: { 'game port': port }, location: undefined },
}

test('a lobby learns the end of its match from a process that has not assigned the match', async () => {
  const clock = createManualClock()
  const store = createMemoryLobbyStore()
  const [first, next] = [await openProcess(store, clock), await openProcess(store, clock)]
  const { ann, key } = await startLobby(first.lobbies, clock)
  first.emit('serverAssigned', { ...assigned, tickets: [{ id: key }] })
  await clock.advance(100)
  expect(await next.lobbies.get(ann)).toMatchObject({ phase: 'running', run: { status: 'assigned' } })
  next.emit('matchOver', { matchId: 'm1', ticketIds: [key] })
  await clock.advance(100)
  expect(await next.lobbies.get(ann)).toMatchObject({ phase: 'open' })
  for (const { opened } of [first, next]) await clock.until(Promise.resolve(opened.close(1000)), 100)
})

test('a process whose clock is a minute ahead counts no member of a lobby as away', async () => {
  const clock = createManualClock()
  const store = createMemoryLobbyStore()
  const ahead: ManualClock = { ...clock, now: () => clock.now() + 60_000 }
  const { opened, lobbies } = await openProcess(store, clock)
  // The time of the matchmaker is known once it answers.
  let isStarted = false
  const other = await openProcess(store, ahead, {
    dateOf: (at = (isStarted ? clock : ahead).now()) => at,
    getTicket: async () => {
      if (!isStarted) throw new StoreUnavailable('the store is not read yet')
      return undefined
    },
  })
  const { lobbyId } = await lobbies.create({ player: { id: 'ann', ip: '192.0.2.1' }, maxPlayers: 4 })
  await clock.advance(5000)
  isStarted = true
  await clock.advance(5000)
  expect((await lobbies.get({ lobbyId, playerId: 'ann' })).members).toMatchObject([{ present: true }])
  for (const one of [opened, other.opened]) await clock.until(Promise.resolve(one.close(1000)), 100)
})

test('lobbies learn from the next leader what the previous one did not report', async () => {
  const clock = createManualClock()
  const store = createMemoryLobbyStore()
  const tickets = new Map<string, Partial<Ticket>>()
  let isDown = true
  const { opened, lobbies, takeOver } = await openProcess(store, clock, {
    getTicket: async (id) => {
      if (isDown) throw new StoreUnavailable('the store does not answer')
      return tickets.get(id) as Ticket | undefined
    },
  })
  const started = async (id: string) => {
    const { lobbyId } = await lobbies.create({ player: { id, ip: '192.0.2.1' }, maxPlayers: 4 })
    await lobbies.start({ lobbyId, playerId: id })
    return { lobbyId, playerId: id }
  }
  const all = [await started('ann'), await started('ben'), await started('cas'), await started('dan')]
  const [assignedTo, cancelled, gone, searching] = all as [ByMember, ByMember, ByMember, ByMember]
  await clock.advance(100)
  tickets.set(`${assignedTo.lobbyId}-1`, { status: 'HOST_ASSIGNED', ...assigned })
  tickets.set(`${cancelled.lobbyId}-1`, { status: 'CANCELLED', cancelReason: 'expired' })
  tickets.set(`${searching.lobbyId}-1`, { status: 'SEARCHING' })
  takeOver()
  await clock.advance(5000)
  isDown = false
  await clock.advance(5000)
  const runOf = async (by: ByMember) => (await lobbies.get(by)).run?.status
  expect(await Promise.all(all.map(runOf))).toEqual(['assigned', undefined, undefined, 'handed-over'])
  tickets.set(`${assignedTo.lobbyId}-1`, {
    status: 'HOST_ASSIGNED',
    ...assigned,
    ended: { reason: 'match-over', at: 0 },
  })
  takeOver()
  await clock.advance(100)
  expect(await runOf(assignedTo)).toBeUndefined()
  expect(await lobbies.get(gone)).toMatchObject({ phase: 'open' })
  await clock.until(Promise.resolve(opened.close(1000)), 100)
})

test('a lobby whose ticket may have been created without an answer withdraws the ticket before it opens', async () => {
  const clock = createManualClock()
  const tickets = new Set<string>()
  let isDown = true
  const { opened, lobbies } = await openProcess(createMemoryLobbyStore(), clock, {
    createTicket: async ({ id = '' }) => {
      tickets.add(id)
      throw new StoreUnavailable('the store does not answer')
    },
    cancelTicket: async (id) => {
      if (isDown) throw new StoreUnavailable('the store does not answer')
      if (!tickets.delete(id)) throw new UnknownTicket('there is no such ticket')
      return {} as never
    },
  })
  const { lobbyId } = await lobbies.create({ player: { id: 'ann', ip: '192.0.2.1' }, maxPlayers: 4 })
  const ann = { lobbyId, playerId: 'ann' }
  await lobbies.start(ann)
  await clock.advance(10_000)
  expect(await lobbies.get(ann)).toMatchObject({ phase: 'starting' })
  isDown = false
  await clock.advance(10_000)
  expect(await lobbies.get(ann)).toMatchObject({ phase: 'open' })
  expect([...tickets]).toEqual([])
  await clock.until(Promise.resolve(opened.close(1000)), 100)
})

test('a lobby takes the match of a ticket that could not be withdrawn any more', async () => {
  const clock = createManualClock()
  const { opened, lobbies } = await openProcess(createMemoryLobbyStore(), clock, {
    cancelTicket: (id) => Promise.reject(new AlreadyAssigned(id, 'm1')),
    getTicket: async (id) =>
      ({ id, status: 'HOST_ASSIGNED', matchId: 'm1', assignment: { fqdn: 'match.example', ports: {} } }) as never,
  })
  const { ann } = await startLobby(lobbies, clock)
  // The leader has assigned the match, and this process has not heard of that yet.
  await lobbies.stop(ann)
  await clock.advance(1000)
  expect(await lobbies.get(ann)).toMatchObject({
    phase: 'running',
    run: { status: 'assigned', assignment: { match: 'm1', host: 'match.example' } },
  })
  await clock.until(Promise.resolve(opened.close(1000)), 100)
})

test('players of a lobby get their match although the store of lobbies fails for 20 s', async () => {
  const clock = createManualClock()
  const memory = createMemoryLobbyStore()
  let isDown = false
  const store: typeof memory = {
    ...memory,
    replace: async (...input) => {
      if (isDown) throw new StoreUnavailable('the store does not answer')
      return memory.replace(...input)
    },
  }
  const { opened, lobbies, problems, emit } = await openProcess(store, clock)
  const { ann, key } = await startLobby(lobbies, clock)
  isDown = true
  emit('serverAssigned', { ...assigned, tickets: [{ id: key }] })
  await clock.advance(20_000)
  isDown = false
  await lobbies.heartbeat(ann)
  await clock.advance(20_000)
  expect((await lobbies.get(ann)).run).toMatchObject({
    status: 'assigned',
    assignment: { match: 'm1', 'port.game_port': 'm1.example.com:31000' },
  })
  expect(problems).toHaveLength(1)
  await clock.until(Promise.resolve(opened.close(1000)), 100)
  expect(clock.sleepers).toBe(0)
})
