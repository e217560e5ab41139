import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@muster/core/http'
import type { SeenServer } from './seen-server.js'

const BAD_GATEWAY = () => new Response('Bad gateway', { status: 502 })

/**
 * A proxy between the tested servers and Muster. It records the servers' requests, and can cut off the servers from
 * Muster.
 */
export class Gateway {
  readonly #servers: readonly SeenServer[]
  readonly #ask: (request: Request) => Promise<Response>
  readonly #listener: Server
  /** Tokens of servers that must register again. */
  readonly #forgotten = new Set<string>()
  /** The signal of this controller is aborted while Muster is cut off. */
  #presence = new AbortController()

  /** @param ask passes a request to Muster */
  constructor(servers: readonly SeenServer[], ask: (request: Request) => Promise<Response>) {
    this.#servers = servers
    this.#ask = ask
    this.#listener = createServer(nodeListener((request) => this.#answer(request)))
  }

  /** Starts listening. Resolves with the proxy's URL. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#listener.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#listener.address() as AddressInfo).port}`
  }
  /**
   * Cuts Muster off from all servers. Returns a function that reconnects Muster as if it had restarted: all servers
   * must register again.
   */
  cut(): () => void {
    this.#presence.abort()
    for (const one of this.#servers) this.#forgotten.add(one.token)
    return () => {
      this.#presence = new AbortController()
    }
  }
  close(): void {
    this.#listener.close()
    this.#listener.closeAllConnections()
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const verified = /^\/verify\/(\d+)$/.exec(pathname)?.[1]
    if (verified !== undefined)
      return (await this.#servers[Number(verified)]?.verify(request)) ?? new Response(null, { status: 410 })
    const token = request.headers.get('authorization')?.replace('Bearer ', '')
    const seen = this.#servers.find((one) => one.token === token)
    return seen === undefined ? this.#ask(request) : this.#answerServer(seen, request, pathname.replace(/\/$/, ''))
  }
  async #answerServer(seen: SeenServer, request: Request, path: string): Promise<Response> {
    if (path !== '/servers' && this.#forgotten.has(seen.token) && !this.#presence.signal.aborted)
      return Response.json({ code: 'server-not-registered', detail: 'Muster has restarted.' }, { status: 409 })
    const number = seen.nextRequest()
    const said = await request.clone().text()
    const answer = await this.#answerOfMuster(request)
    if (path === '/servers' && answer.ok) this.#forgotten.delete(seen.token)
    await seen.recordReport(number, path, said, answer.clone())
    return answer
  }
  /** Returns the response of Muster. While Muster is cut off, returns the 502 of a proxy in front of it. */
  async #answerOfMuster(request: Request): Promise<Response> {
    const { signal } = this.#presence
    if (signal.aborted) return BAD_GATEWAY()
    const answered = new AbortController()
    const gone = new Promise<Response>((resolve) => {
      signal.addEventListener('abort', () => resolve(BAD_GATEWAY()), { once: true, signal: answered.signal })
    })
    const answer = await Promise.race([gone, this.#ask(request)])
    answered.abort()
    return answer
  }
}
