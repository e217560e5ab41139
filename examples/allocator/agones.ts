/**
 * An allocator for fleets of Agones, by the API of Kubernetes: see docs/any-hoster.md. Checked by a stub that was made
 * from the published types of Agones, and **never run on a cluster**. Start it with ALLOCATOR_SECRET in a pod whose
 * service account may create gameserverallocations.allocation.agones.dev, and list and delete gameservers.agones.dev.
 * Version 1.0 of the application game is the fleet `game-1-0`. A game server finds its variables in the annotation
 * `muster/environment` of its GameServer, by the SDK, once it is allocated.
 */
import { existsSync, readFileSync } from 'node:fs'
import { serve, stopped } from './serve.js'

const { KUBE_URL = 'https://kubernetes.default.svc', NAMESPACE = 'default' } = process.env
const { TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token' } = process.env
const LABEL = 'muster/id'
/** Muster's status for each state of a GameServer. Any other state means that the server still starts. */
const STATUS: Readonly<Record<string, string>> = {
  Ready: 'ready',
  Reserved: 'ready',
  Allocated: 'ready',
  Unhealthy: 'failed',
  Error: 'failed',
  Shutdown: 'ended',
}
/** Milliseconds after a stop during which servers of a late allocation are searched and removed. */
const LATE_MS = 120_000

interface GameServer {
  readonly metadata: { readonly name: string; readonly labels: Record<string, string>; deletionTimestamp?: string }
  readonly spec: { readonly ports?: readonly { readonly name?: string; readonly protocol?: string }[] }
  readonly status: { state: string; address: string; ports?: readonly { name?: string; port: number }[] | null }
}

async function kube<Body>(method: string, path: string, body?: object): Promise<Body> {
  const headers = {
    ...(existsSync(TOKEN_FILE) && { authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8').trim()}` }),
    ...(body && { 'content-type': 'application/json' }),
  }
  const init = { method, headers, signal: AbortSignal.timeout(8000), ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(KUBE_URL + path, init)
  if (!answer.ok && !(method === 'DELETE' && answer.status === 404)) throw new Error(`${method}: ${answer.status}`)
  return (await answer.json()) as Body
}
const servers = `/apis/agones.dev/v1/namespaces/${NAMESPACE}/gameservers`
async function withIds(ids: readonly string[]): Promise<readonly GameServer[]> {
  // Without ids, the query only checks that Kubernetes responds.
  const query = ids.length === 0 ? 'limit=1' : `labelSelector=${encodeURIComponent(`${LABEL} in (${ids.join(',')})`)}`
  return (await kube<{ items: readonly GameServer[] }>('GET', `${servers}?${query}`)).items
}
const remove = (those: readonly GameServer[]) =>
  Promise.all(those.map(({ metadata: { name } }) => kube('DELETE', `${servers}/${name}`)))

serve({
  allocate: async ({ id, application, version, environment }) => {
    const fleet = `${application}-${version}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
    const path = `/apis/allocation.agones.dev/v1/namespaces/${NAMESPACE}/gameserverallocations`
    const { status } = await kube<{ status: { state: string } }>('POST', path, {
      apiVersion: 'allocation.agones.dev/v1',
      kind: 'GameServerAllocation',
      spec: {
        selectors: [
          // A repeated request gets the server of the first one.
          { matchLabels: { [LABEL]: id }, gameServerState: 'Allocated' },
          { matchLabels: { 'agones.dev/fleet': fleet }, gameServerState: 'Ready' },
        ],
        scheduling: 'Packed',
        metadata: { labels: { [LABEL]: id }, annotations: { 'muster/environment': JSON.stringify(environment) } },
      },
    })
    if (status.state === 'Allocated') return [200]
    return status.state === 'UnAllocated' ? [409, { error: 'no-capacity' }] : [429, { error: status.state }]
  },
  poll: async (ids) => {
    const late = [...stopped.values].flatMap(([id, at]) => (at > Date.now() - LATE_MS ? [id] : []))
    const found = await withIds([...new Set([...ids, ...late])])
    const idOf = ({ metadata }: GameServer) => metadata.labels[LABEL] ?? ''
    await remove(found.filter((one) => late.includes(idOf(one)) && one.metadata.deletionTimestamp === undefined))
    return found.flatMap((one) => {
      if (!ids.includes(idOf(one))) return []
      const protocolOf = (name: string) => one.spec.ports?.find((port) => port.name === name)?.protocol ?? 'UDP'
      const ports = (one.status.ports ?? []).map(({ name = 'default', port }) => {
        return [name, { port, protocol: protocolOf(name).replace('TCPUDP', 'TCP/UDP') }] as const
      })
      const isGoing = one.metadata.deletionTimestamp !== undefined
      const status = isGoing ? 'ended' : (STATUS[one.status.state] ?? 'starting')
      return [{ id: idOf(one), status, host: one.status.address, ports: Object.fromEntries(ports) }]
    })
  },
  stop: async (id) => void (await remove(await withIds([id]))),
})
