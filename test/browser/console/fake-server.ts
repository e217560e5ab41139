import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pagesFolder } from '@muster/console'
import type { ApplyRequest, ErrorBody, Role, Trial, TrialRequest } from '@muster/console/internal'
import { helloOf, nowOf, stepOf, type Scene } from './scenes.js'
import { auditOf, cardsOf, duelYaml, foundOf, serversOf, trialResult } from './stories.js'

const roles: Readonly<Record<string, Role>> = { 'Bearer look-token': 'look', 'Bearer operate-token': 'operate' }

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}
const policy = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "connect-src 'self'",
  "img-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

export interface FakeServer {
  readonly url: string
  /** Requests of the page that change something, in order. */
  readonly acts: readonly string[]
  show: (scene: Scene) => void
  /** Closes all connections and accepts no new ones. */
  goAway: () => Promise<void>
  comeBack: () => Promise<void>
  close: () => Promise<void>
}

export interface FakeOptions {
  readonly bots?: boolean
  /** Start time of all scenes. Default: the machine's clock. */
  readonly at?: number
  /** Milliseconds between two states that are sent. */
  readonly everyMs?: number
}

/** Starts a server that plays scenes to the console's page, which cannot tell it from the real program. */
export async function openFakeServer(first: Scene, options: FakeOptions = {}): Promise<FakeServer> {
  const { bots = true, everyMs = 500 } = options
  const openedAt = Date.now()
  const time = () => (options.at === undefined ? Date.now() : options.at + Date.now() - openedAt)
  let scene = first
  const acts: string[] = []
  const cancelled = new Set<string>()
  const timers = new Set<NodeJS.Timeout>()
  const duel = { version: 4, yaml: duelYaml }
  let trial: (Trial & { readonly since: number }) | undefined

  const feed = (response: ServerResponse, role: Role) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    const send = (event: string, data: object) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    let shown = scene
    send('hello', helloOf(scene, time(), role, bots))
    send('now', nowOf(scene, time()))
    let ticks = 0
    const timer = setInterval(() => {
      if (shown !== scene) send('hello', helloOf(scene, time(), role, bots))
      shown = scene
      send('now', nowOf(scene, time()))
      if (++ticks % 20 === 0) send('step', stepOf(scene, time()))
    }, everyMs)
    timers.add(timer)
    response.on('close', () => clearInterval(timer))
  }

  const trialNow = (): Trial | undefined => {
    if (trial === undefined) return undefined
    const progress = Math.min(1, (Date.now() - trial.since) / 900)
    const { since: _since, ...rest } = trial
    return progress < 1 ? { ...rest, progress } : { ...rest, progress, state: 'done', result: trialResult(time()) }
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const json = (status: number, body?: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    }
    const refuse = (status: number, problem: ErrorBody) => json(status, problem)
    const url = new URL(request.url ?? '', 'http://any')
    const path = url.pathname.replace('/console/', '')
    if (!path.startsWith('api/')) return sendFile(path, response)
    const role = roles[request.headers.authorization ?? '']
    if (role === undefined) return refuse(401, { code: 'unauthorized', message: 'The token is missing or wrong.' })
    const call = `${request.method} ${path.slice(4)}`
    if (call === 'GET feed') return feed(response, role)
    if (call === 'GET find') return json(200, foundOf(url.searchParams.get('id') ?? '', time(), cancelled))
    if (call === 'GET servers') return json(200, serversOf(time()))
    if (call === 'GET acts') return json(200, auditOf(time()))
    if (call === 'GET queues') return json(200, cardsOf(duel.version, duel.yaml))
    if (call === 'GET trials/one') return json(200, trialNow())
    const body: unknown = JSON.parse((await textOf(request)) || '{}')
    if (call === 'POST trials' || call === 'PUT queues/duel') {
      const { yaml } = body as TrialRequest
      const line = yaml.split('\n').findIndex((text) => text.includes('nonsense')) + 1
      if (line > 0) {
        const message = 'Unknown kind of rule: nonsense. Did you mean difference?'
        return refuse(422, { code: 'wrong', message: 'The queue is invalid.', faults: [{ line, column: 11, message }] })
      }
    }
    if (call === 'POST trials') {
      const { queue } = body as TrialRequest
      trial = { id: 'one', queue, state: 'running', progress: 0, error: null, result: null, since: Date.now() }
      return json(200, trialNow())
    }
    if (call === 'DELETE trials/one') {
      trial = undefined
      acts.push(call)
      return json(204)
    }
    if (role !== 'operate') return refuse(403, { code: 'forbidden', message: 'The role look may not do this.' })
    acts.push(call)
    if (call === 'PUT queues/duel') {
      const { version, yaml } = body as ApplyRequest
      if (version !== duel.version)
        return refuse(409, { code: 'conflict', message: 'The queue was changed meanwhile.' })
      duel.version += 1
      duel.yaml = yaml
      return json(200, { kept: 'file', version: duel.version, refused: 3 })
    }
    const [, queue, verb] = /^POST queues\/([^/]+)\/(pause|resume)$/.exec(call) ?? []
    if (queue !== undefined) {
      scene = {
        ...scene,
        paused: verb === 'pause' ? [...scene.paused, queue] : scene.paused.filter((one) => one !== queue),
      }
    }
    if (call === 'POST tickets/ticket-4711/cancel') cancelled.add('ticket-4711')
    if (call === 'POST bots') acts.push(JSON.stringify(body))
    return json(call === 'POST bots' ? 202 : 204)
  }

  const server = createServer((request, response) => void answer(request, response))
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const goAway = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return {
    url: `http://127.0.0.1:${port}/console/`,
    acts,
    show: (next) => {
      scene = next
    },
    goAway,
    comeBack: () => listen(port),
    close: async () => {
      for (const timer of timers) clearInterval(timer)
      if (server.listening) await goAway()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return text
}

function sendFile(path: string, response: ServerResponse): void {
  const name = path === '' ? 'index.html' : path
  const type = types[name.split('.').at(-1) ?? '']
  if (!/^[\w.]+$/.test(name) || type === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
  })
  response.end(readFileSync(new URL(name, pagesFolder)))
}
