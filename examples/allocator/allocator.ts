/**
 * An allocator for machines of one's own: servers are units of systemd there, started by ssh. The protocol is in
 * docs/any-hoster.md. Start it with ALLOCATOR_SECRET, MACHINES (`fra-1.example.com,fra-2.example.com`) and COMMAND,
 * what a unit runs. It finds its port in SERVICE_PORT_GAME_INTERNAL, as the packages for game servers do. One process
 * at a time: its memory is the file STATE. Checked with a stub in place of ssh, and not on a machine with systemd.
 */
import { execFile } from 'node:child_process'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'

const { ALLOCATOR_SECRET: secret = '', MACHINES = '', COMMAND = '/opt/game/server' } = process.env
const { PORT = '8070', REMOTE = 'ssh', STATE = 'allocator.json' } = process.env
const [FIRST_PORT, PER_MACHINE, REMEMBERED_MS] = [31_000, 100, 86_400_000]
const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
if (!secret.startsWith('whsec_') || key.length < 24) throw new Error('ALLOCATOR_SECRET: whsec_ and 24 bytes in base64')

/** Where a server is, and since when it is to be none. A stopped id is never started later. */
type Unit = { readonly host?: string | undefined; readonly port?: number | undefined; readonly stoppedAt?: number }
type Answer = readonly [status: number, body?: object]
const units = new Map<string, Unit>(existsSync(STATE) ? JSON.parse(readFileSync(STATE, 'utf8')) : [])
function write(id: string, unit: Unit) {
  units.set(id, unit)
  for (const [old, { stoppedAt = Infinity }] of units) if (stoppedAt < Date.now() - REMEMBERED_MS) units.delete(old)
  writeFileSync(`${STATE}.new`, JSON.stringify([...units]), { mode: 0o600 })
  renameSync(`${STATE}.new`, STATE)
}

/** Runs a script on a machine. @param input its standard input, where no list of processes shows it */
const on = (host: string, script: string, input = '') =>
  new Promise<string>((resolve, reject) => {
    const child = execFile(REMOTE, [host, script], { timeout: 15_000 }, (error, out) =>
      error ? reject(error) : resolve(out),
    )
    child.stdin?.on('error', () => {}).end(input)
  })

/** A second time it starts nothing, for systemd has one unit of a name. */
async function allocate({ id, environment }: { id: string; environment: Record<string, string> }): Promise<Answer> {
  if (units.get(id)?.stoppedAt !== undefined) return [409, { error: 'stopped' }]
  const taken = new Set(Array.from(units.values(), ({ host, port }) => `${host}:${port}`))
  const places = MACHINES.split(',').flatMap((host) =>
    Array.from({ length: PER_MACHINE }, (_, n) => [host, FIRST_PORT + n] as const),
  )
  const free = places.find(([host, port]) => !taken.has(`${host}:${port}`))
  const { host = free?.[0], port = free?.[1] } = units.get(id) ?? {}
  if (host === undefined) return [409, { error: 'no-capacity' }]
  write(id, { host, port })
  const lines = Object.entries({ ...environment, SERVICE_PORT_GAME_INTERNAL: port }).map(
    ([name, value]) => `${name}=${JSON.stringify(String(value))}`,
  )
  const file = `/run/muster/${id}.env`
  const start = `systemd-run -q --unit muster-${id} -p EnvironmentFile=${file} ${COMMAND}`
  const script = `umask 077; mkdir -p /run/muster; cat > ${file}; systemctl is-active -q muster-${id} || ${start}`
  await on(host, script, lines.join('\n'))
  return [200]
}

async function poll({ ids }: { ids: readonly string[] }): Promise<Answer> {
  const statusOf = async (id: string) => {
    const { host, port, stoppedAt } = units.get(id) ?? {}
    if (stoppedAt !== undefined) return { id, status: 'ended' }
    if (host === undefined || port === undefined) return { id, status: 'unknown' }
    const state = (await on(host, `systemctl show -p ActiveState --value muster-${id}`)).trim()
    if (state !== 'active')
      return { id, status: state === 'activating' ? 'starting' : state === 'failed' ? 'failed' : 'ended' }
    return { id, status: 'ready', host, ports: { game: { port, protocol: 'UDP' } } }
  }
  return [200, { servers: await Promise.all(ids.map(statusOf)) }]
}

async function stop({ id }: { id: string }): Promise<Answer> {
  const { host, port, stoppedAt = Date.now() } = units.get(id) ?? {}
  write(id, { host, port, stoppedAt })
  if (host !== undefined) await on(host, `systemctl stop muster-${id} || ! systemctl is-active -q muster-${id}`)
  write(id, { stoppedAt }) // its port is free
  return [200]
}

function isSigned(headers: IncomingHttpHeaders, body: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': given = '' } = headers
  const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`)
  const isNow = Math.abs(Date.now() / 1000 - Number(seconds)) <= 300
  return isNow && String(given).length === wanted.length && timingSafeEqual(Buffer.from(String(given)), wanted)
}

let turn: Promise<unknown> = Promise.resolve()
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const act = ({ '/allocate': allocate, '/poll': poll, '/stop': stop } as const)[request.url ?? '']
  const answer = async (): Promise<Answer> => {
    if (!isSigned(request.headers, body)) return [401, { error: 'signature' }]
    return act === undefined ? [404] : act(JSON.parse(body))
  }
  // One after the other: a stop never overtakes the start of its server.
  const [status, said] = await (turn = turn
    .then(answer)
    .catch((): Answer => [503, { error: 'machine' }]) as Promise<Answer>)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said ?? {}))
})
server.listen(Number(PORT), () => console.log(`listens on ${JSON.stringify(server.address())}`))
