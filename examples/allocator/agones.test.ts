/**
 * Tests the allocator for Agones with a stub instead of a cluster. The stub's requests and responses were transcribed
 * from the types that Agones publishes: pkg/apis/allocation/v1/gameserverallocation.go at commit 00208396
 * (GameServerAllocationSpec, GameServerSelector and its Validate, MetaPatch, GameServerAllocationStatus and its three
 * states) and pkg/apis/agones/v1/gameserver.go at commit 01dc444e (GameServerState, GameServerStatus,
 * GameServerStatusPort, GameServerPort) of googleforgames/agones. The rules of labels are those of Kubernetes. No
 * cluster was used.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { InvalidInput, NoCapacity, RateLimited, ServerError } from '@muster/core'
import { expect, onTestFinished, test } from 'vitest'
import { call, newFolder, openAllocator, wanted } from './allocator-process.fixture.js'

type Json = Record<string, unknown>

/** The types of fields, by their names in JSON. A list has the type of its entries, and `*` stands for any name. */
const text = (value: unknown) => typeof value === 'string'
const SELECTOR = {
  matchLabels: { '*': text },
  matchExpressions: [{ key: text, operator: text, values: [text] }],
  gameServerState: (value: unknown) => value === 'Ready' || value === 'Allocated',
}
const ALLOCATION = {
  apiVersion: (value: unknown) => value === 'allocation.agones.dev/v1',
  kind: (value: unknown) => value === 'GameServerAllocation',
  metadata: { name: text, namespace: text, generateName: text },
  spec: {
    multiClusterSetting: { enabled: (value: unknown) => typeof value === 'boolean', policySelector: SELECTOR },
    required: SELECTOR,
    preferred: [SELECTOR],
    selectors: [SELECTOR],
    scheduling: (value: unknown) => value === 'Packed' || value === 'Distributed',
    metadata: {
      labels: { '*': (value: unknown) => text(value) && /^$|^[a-z0-9]([\w.-]{0,61}[a-z0-9])?$/i.test(String(value)) },
      annotations: { '*': text },
    },
  },
}

/**
 * Returns the path at which a value does not fit its type; undefined if it fits. Fields that the type lacks are faults.
 */
function faultOf(value: unknown, type: unknown, path = 'body'): string | undefined {
  if (typeof type === 'function') return type(value) === true ? undefined : path
  if (Array.isArray(type)) {
    if (!Array.isArray(value)) return path
    return value.map((entry, at) => faultOf(entry, type[0], `${path}.${at}`)).find((fault) => fault !== undefined)
  }
  if (typeof value !== 'object' || value === null) return path
  return Object.entries(value)
    .map(([name, part]) => {
      const inner = (type as Json)[name] ?? (type as Json)['*']
      return inner === undefined ? `${path}.${name}` : faultOf(part, inner, `${path}.${name}`)
    })
    .find((fault) => fault !== undefined)
}

interface Stubbed {
  readonly name: string
  readonly labels: Record<string, string>
  annotations: Record<string, string>
  state: string
  isGoing: boolean
}

/** Starts a namespace with a fleet of this many ready servers. */
async function openCluster(count: number) {
  const servers: Stubbed[] = Array.from({ length: count }, (_, nth) => ({
    name: `game-1-${nth}`,
    labels: { 'agones.dev/fleet': 'game-1' },
    annotations: {},
    state: 'Ready',
    isGoing: false,
  }))
  const faults: string[] = []
  const say: { state?: string; status?: number } = {}
  const allocate = (body: Json) => {
    const fault = faultOf(body, ALLOCATION)
    if (fault !== undefined) faults.push(fault)
    const { selectors, metadata } = body['spec'] as {
      selectors: { matchLabels: Record<string, string>; gameServerState?: string }[]
      metadata: { labels: Record<string, string>; annotations: Record<string, string> }
    }
    const found = selectors
      .map(({ matchLabels, gameServerState = 'Ready' }) =>
        servers.find(
          ({ labels, state, isGoing }) =>
            !isGoing &&
            state === gameServerState &&
            Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
        ),
      )
      .find((one) => one !== undefined)
    const state = say.state ?? (found === undefined ? 'UnAllocated' : 'Allocated')
    if (state === 'Allocated' && found !== undefined) {
      Object.assign(found.labels, metadata.labels)
      found.annotations = { ...found.annotations, ...metadata.annotations }
      found.state = 'Allocated'
    }
    return { ...body, status: { state, gameServerName: found?.name ?? '', source: 'local' } }
  }
  const shown = ({ name, labels, annotations, state, isGoing }: Stubbed, nth: number) => ({
    metadata: { name, labels, annotations, ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { ports: [{ name: 'game', portPolicy: 'Dynamic', containerPort: 7654, protocol: 'TCPUDP' }] },
    status: {
      state,
      ports: [{ name: 'game', port: 7000 + nth }],
      address: '192.0.2.1',
      nodeName: 'n',
      reservedUntil: null,
    },
  })
  const answer = (method: string, url: URL, body: Json | undefined): readonly [number, object] => {
    const place = '/apis/agones.dev/v1/namespaces/games/gameservers'
    if (say.status !== undefined) return [say.status, { kind: 'Status' }]
    if (method === 'POST' && url.pathname === '/apis/allocation.agones.dev/v1/namespaces/games/gameserverallocations')
      return [201, allocate(body ?? {})]
    const all = servers.map((one, nth) => ({ one, item: shown(one, nth) }))
    if (method === 'GET' && url.pathname === place) {
      const selector = url.searchParams.get('labelSelector')
      const [, key = '', values = ''] = /^(\S+) in \(([a-z0-9,-]+)\)$/.exec(selector ?? '') ?? []
      if (selector !== null && key === '') faults.push(`labelSelector ${selector}`)
      const isMeant = ({ labels }: Stubbed) => selector === null || values.split(',').includes(labels[key] ?? '-')
      return [200, { items: all.filter(({ one }) => isMeant(one)).map(({ item }) => item) }]
    }
    const named = servers.find(({ name }) => url.pathname === `${place}/${name}`)
    if (method !== 'DELETE' || named === undefined) return [404, { kind: 'Status' }]
    named.isGoing = true
    return [200, { kind: 'Status' }]
  }
  const server = createServer(async (request, response) => {
    let given = ''
    for await (const chunk of request.setEncoding('utf8')) given += chunk
    const body = given === '' ? undefined : (JSON.parse(given) as Json)
    const [status, said] = answer(request.method ?? '', new URL(request.url ?? '', 'http://kube'), body)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const folder = await newFolder()
  const env = { KUBE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, NAMESPACE: 'games' }
  const open = () => openAllocator('agones', { ...env, STATE: join(folder, 'state.json') })
  return { servers, faults, say, open, taken: () => servers.filter(({ state }) => state === 'Allocated') }
}

test('the Agones allocator allocates one server for an id, with its variables, even across processes', async () => {
  const { servers, faults, open, taken } = await openCluster(3)
  const before = await open()
  await before.allocator.allocate(wanted('a'), call)
  await before.allocator.allocate(wanted('a'), call)
  await before.close()
  const { allocator } = await open()
  await allocator.allocate(wanted('a'), call)
  await allocator.allocate(wanted('b'), call)
  expect(taken().map(({ labels }) => labels['muster/id'])).toEqual(['a', 'b'])
  expect(JSON.parse(servers[0]?.annotations['muster/environment'] ?? '')).toEqual(wanted('a').environment)
  const ports = { game: { port: 7000, protocol: 'TCP/UDP' } }
  expect(await allocator.poll(['a', 'never'], call)).toEqual([{ id: 'a', status: 'ready', host: '192.0.2.1', ports }])
  expect(faults).toEqual([])
})

test('the Agones allocator reports the state of servers, and stops them for good', async () => {
  const { servers, faults, open } = await openCluster(4)
  const { allocator } = await open()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) await allocator.allocate(wanted(id), call)
  const states = ['Unhealthy', 'Shutdown', 'Scheduled', 'Allocated']
  for (const [nth, state] of states.entries()) Object.assign(servers[nth] as Stubbed, { state })
  const statuses = async () => (await allocator.poll(ids, call)).map(({ status }) => status)
  expect(await statuses()).toEqual(['failed', 'ended', 'starting', 'ready'])
  for (const id of ['d', 'd', 'never']) await allocator.stop(id, call)
  expect(servers.map(({ isGoing }) => isGoing)).toEqual([false, false, false, true])
  expect(await statuses()).toEqual(['failed', 'ended', 'starting', 'ended'])
  await expect(allocator.allocate(wanted('never'), call)).rejects.toBeInstanceOf(InvalidInput)
  expect(faults).toEqual([])
})

test('the Agones allocator deletes at its next poll a server allocated for an id after a stop of the id', async () => {
  const { servers, open } = await openCluster(1)
  const { allocator } = await open()
  await allocator.stop('a', call)
  Object.assign(servers[0] as Stubbed, { state: 'Allocated', labels: { 'muster/id': 'a' } })
  await allocator.poll([], call)
  expect(servers[0]?.isGoing).toBe(true)
})

test('the Agones allocator reports no capacity, a retry or an unknown outcome by the cluster’s answer', async () => {
  const { say, open, taken } = await openCluster(1)
  const { allocator } = await open()
  say.state = 'Contention'
  await expect(allocator.allocate(wanted('a'), call)).rejects.toBeInstanceOf(RateLimited)
  say.state = 'UnAllocated'
  await expect(allocator.allocate(wanted('a'), call)).rejects.toBeInstanceOf(NoCapacity)
  Object.assign(say, { state: undefined, status: 500 })
  await expect(allocator.allocate(wanted('a'), call)).rejects.toBeInstanceOf(ServerError)
  await expect(allocator.poll(['a'], call)).rejects.toBeInstanceOf(ServerError)
  expect(taken()).toEqual([])
})
