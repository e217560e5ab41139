/**
 * An allocator for your own machines. Each server is a unit of systemd, which the allocator starts by ssh. The protocol
 * is in docs/any-hoster.md. Start the allocator with ALLOCATOR_SECRET, MACHINES (`fra-1.example.com,fra-2.example.com`)
 * and COMMAND, the command that each unit runs. The command finds its port in SERVICE_PORT_GAME_INTERNAL, which the
 * packages for game servers read. Only one allocator may run at a time, because the file STATE is its memory. Checked
 * with a stub in place of ssh, and not on a machine with systemd.
 */
import { execFile } from 'node:child_process'
import { serve, stored } from './serve.js'

const { MACHINES = '', COMMAND = '/opt/game/server', REMOTE = 'ssh', STATE = 'allocator.json' } = process.env
const REMOTE_MS = Number(process.env['REMOTE_MS'] ?? 8000)
const [FIRST_PORT, PER_MACHINE] = [31_000, 100]

/** The host and the port of each server that was not stopped, by id. */
const units = stored<{ readonly host: string; readonly port: number }>(STATE)
const places = Array.from({ length: PER_MACHINE }, (_, n) => FIRST_PORT + n).flatMap((port) =>
  MACHINES.split(',').map((host) => ({ host, port })),
)

/** Runs a script on a machine. @param input its standard input, which no list of processes shows */
const on = (host: string, script: string, input = '') =>
  new Promise<string>((resolve, reject) => {
    const done = (error: Error | null, out: string) => (error ? reject(error) : resolve(out))
    const child = execFile(REMOTE, [host, script], { timeout: REMOTE_MS, killSignal: 'SIGKILL' }, done)
    child.stdin?.on('error', () => {}).end(input)
  })

/**
 * Returns the states of the servers on a machine. If the machine does not respond, only its own servers are unclear.
 */
async function pollAt(host: string, ids: readonly string[]) {
  const names = ids.map((id) => `muster-${id}`).join(' ')
  const told = await on(host, `systemctl is-active ${names} || true`).catch(() => '')
  const states = told.trim().split('\n')
  return ids.map((id, at) => {
    const status = { active: 'ready', activating: 'starting', failed: 'failed' }[String(states[at])] ?? 'ended'
    const ports = { game: { port: units.values.get(id)?.port, protocol: 'UDP' } }
    if (states.length !== ids.length || told === '') return { id, status: 'unclear', detail: 'its machine is silent' }
    return { id, status, host, ports }
  })
}

serve({
  /** Starts a server. A repeated request starts no second one, because systemd has only one unit of a name. */
  allocate: async ({ id, environment }) => {
    const taken = new Set(Array.from(units.values.values(), ({ host, port }) => `${host}:${port}`))
    const place = units.values.get(id) ?? places.find(({ host, port }) => !taken.has(`${host}:${port}`))
    if (place === undefined) return [409, { error: 'no-capacity' }]
    units.values.set(id, place)
    units.write()
    const variables = Object.entries({ ...environment, SERVICE_PORT_GAME_INTERNAL: String(place.port) })
    const lines = variables.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join('\n')
    const file = `/run/muster/${id}.env`
    const start = `systemd-run -q --unit muster-${id} -p EnvironmentFile=${file} ${COMMAND}`
    const script = `umask 077; mkdir -p /run/muster; cat > ${file}; systemctl is-active -q muster-${id} || ${start}`
    await on(place.host, script, lines)
    return [200]
  },
  poll: async (ids) => {
    const hosts = new Set(ids.flatMap((id) => units.values.get(id)?.host ?? []))
    const polled = [...hosts].map((host) =>
      pollAt(
        host,
        ids.filter((id) => units.values.get(id)?.host === host),
      ),
    )
    return (await Promise.all(polled)).flat()
  },
  stop: async (id) => {
    const { host } = units.values.get(id) ?? {}
    if (host !== undefined) await on(host, `systemctl stop muster-${id} || ! systemctl is-active -q muster-${id}`)
    units.values.delete(id) // its port is free
    units.write()
  },
})
