import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NoCapacity } from '@muster/core'
import type { ServerAllocator, WantedServer } from './server-allocator.js'

export const allocatorSecret = `whsec_${Buffer.from('a secret of more than 24 bytes').toString('base64')}`

/** A call that the HTTP server has received. */
export interface ReceivedCall {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A response that replaces the allocator's. `drop`: the connection is cut. `never`: there is no response. */
export type AnswerInstead =
  | 'drop'
  | 'never'
  | {
      readonly status: number
      readonly body?: string | undefined
      readonly headers?: Record<string, string> | undefined
    }

interface AllocatorServerOptions {
  readonly allocator: ServerAllocator
  /** Returns a response that replaces the allocator's. Undefined: the allocator answers. Default: always undefined. */
  readonly instead?: ((call: ReceivedCall) => AnswerInstead | undefined) | undefined
}

const call = { timeoutMs: 10_000 }

/** Opens an HTTP server on loopback that verifies the signatures of calls and passes the calls to an allocator. */
export async function openAllocatorServer({ allocator, instead = () => undefined }: AllocatorServerOptions) {
  const received: ReceivedCall[] = []

  const answer = async ({ path, headers, body }: ReceivedCall): Promise<AnswerInstead> => {
    const id = String(headers['webhook-id'])
    const key = Buffer.from(allocatorSecret.slice('whsec_'.length), 'base64')
    const signed = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${body}`).digest('base64')
    if (headers['webhook-signature'] !== `v1,${signed}`) return { status: 401, body: '{"error":"signature"}' }
    const { type, ...content } = JSON.parse(body) as WantedServer & { readonly type: string; readonly ids: string[] }
    if (!path.endsWith(`/${type}`)) return { status: 401, body: '{"error":"type"}' }
    try {
      if (path.endsWith('/allocate')) await allocator.allocate(content, call)
      if (path.endsWith('/stop')) await allocator.stop(content.id, call)
      if (!path.endsWith('/poll')) return { status: 204 }
      return { status: 200, body: JSON.stringify({ servers: await allocator.poll(content.ids, call) }) }
    } catch (error) {
      return error instanceof NoCapacity ? { status: 409, body: '{"error":"no-capacity"}' } : 'drop'
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    const said = instead(one) ?? (await answer(one))
    if (said === 'never') return
    if (said === 'drop') return void request.socket.destroy()
    response.writeHead(said.status, said.headers).end(said.body)
  }
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/muster/`,
    received,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
