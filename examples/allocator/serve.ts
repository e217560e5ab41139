/**
 * The part that every allocator needs. It handles the three requests of docs/any-hoster.md, and checks their
 * signatures. Requests about the same id run one after another, others at the same time. The file `<STATE>.stopped`
 * remembers stopped ids for a day.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'

export type Answer = readonly [status: number, body?: object]
export interface Wanted {
  readonly id: string
  readonly application: string
  readonly version: string
  readonly environment: Readonly<Record<string, string>>
}
interface Acts {
  /** Starts a server. Not called for an id that was stopped. */
  allocate(wanted: Wanted): Promise<Answer>
  poll(ids: readonly string[]): Promise<readonly object[]>
  stop(id: string): Promise<void>
}

const { ALLOCATOR_SECRET: secret = '', PORT = '8070', STATE = 'allocator.json' } = process.env
/** Maximum number of characters of a request's body: enough for 100 variables of 4 KiB. */
const MOST_CHARACTERS = 2 ** 20
const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
if (!secret.startsWith('whsec_') || key.length < 24)
  throw new Error('ALLOCATOR_SECRET: must be whsec_ followed by at least 24 bytes in base64')

/** Opens a map that is stored in a file. Only one process at a time may use the file. */
export function stored<Value>(path: string) {
  const values = new Map<string, Value>(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [])
  const write = () => {
    writeFileSync(`${path}.new`, JSON.stringify([...values]), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }
  return { values, write }
}
/** When each id was stopped, in epoch milliseconds. */
export const stopped = stored<number>(`${STATE}.stopped`)

function isSigned(headers: IncomingHttpHeaders, body: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = headers
  const wanted = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`)
  const got = Buffer.from(String(given))
  return Math.abs(Date.now() / 1000 - Number(at)) <= 300 && got.length === wanted.length && timingSafeEqual(got, wanted)
}

export function serve({ allocate, poll, stop }: Acts): void {
  /**
   * The latest request about each id. The next one waits for it, so that a stop never overtakes the start of its
   * server.
   */
  const turns = new Map<string, Promise<Answer>>()
  const inTurn = (id: string, act: () => Promise<Answer>) => {
    const turn = (turns.get(id) ?? Promise.resolve()).catch(() => {}).then(act)
    turns.set(id, turn)
    return turn.finally(() => turns.get(id) === turn && turns.delete(id))
  }
  const answerTo = async (
    url: string | undefined,
    { type, ...content }: Wanted & { readonly type: string; readonly ids: readonly string[] },
  ): Promise<Answer> => {
    const { id } = content
    // The signature covers the body, and not the path.
    if (url !== `/${type}`) return [401, { error: 'type' }]
    if (url === '/poll') return [200, { servers: await poll(content.ids) }]
    if (url !== '/allocate' && url !== '/stop') return [404]
    if (typeof id !== 'string' || !/^[a-z0-9-]{1,40}$/.test(id)) return [422, { error: 'id' }]
    return inTurn(id, async () => {
      if (url === '/allocate') return stopped.values.has(id) ? [409, { error: 'stopped' }] : allocate(content)
      const now = Date.now()
      for (const [old, at] of stopped.values) if (at < now - 86_400_000) stopped.values.delete(old)
      stopped.values.set(id, now)
      stopped.write()
      await stop(id)
      return [200]
    })
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8'))
      if ((body += chunk).length > MOST_CHARACTERS) throw new Error('the request body is too long')
    const [status, said = {}] = isSigned(request.headers, body)
      ? await answerTo(request.url, JSON.parse(body)).catch((): Answer => [503, { error: 'unavailable' }])
      : [401, { error: 'signature' }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  }
  // A stranger may abort a request within its body, or send a body without an end. The connection is then destroyed.
  const server = createServer((request, response) => {
    const { socket } = request
    void answer(request, response).catch(() => socket.destroy())
  })
  server.listen(Number(PORT), () => console.log(`listens on ${JSON.stringify(server.address())}`))
}
