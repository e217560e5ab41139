import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@muster/core/http'
import type { Console } from './console.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON; undefined without a body. */
  readonly body: unknown
}

export interface Asked {
  readonly method?: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or unchanged if it is a string. */
  readonly body?: unknown
}

/** A console behind node:http on loopback. */
export async function serve({ handle }: Pick<Console, 'handle'>) {
  const server = createServer(nodeListener(handle))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  /** Sends with node:http, which allows any Host header and any path. */
  const send = (path: string, { method = 'GET', token, headers, body }: Asked = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      httpRequest({
        port,
        host: '127.0.0.1',
        path,
        method,
        agent: false,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      })
        .on('response', resolve)
        .on('error', reject)
        .end(sent)
    })

  const ask = async (path: string, asked?: Asked): Promise<Answer> => {
    const response = await send(path, asked)
    const parts: Buffer[] = []
    for await (const part of response) parts.push(part as Buffer)
    const bytes = Buffer.concat(parts)
    const text = String(bytes)
    const isJson = response.headers['content-type']?.includes('json') === true
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      bytes,
      text,
      body: isJson ? (JSON.parse(text) as unknown) : undefined,
    }
  }

  /** Reads the feed, event by event. */
  const listen = async (token: string) => {
    const response = await send('/console/api/feed', { token })
    const parts = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    let text = ''
    const next = async (): Promise<{ readonly event: string; readonly data: unknown; readonly bytes: number }> => {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end === -1) {
          const part = await parts.next()
          if (part.done === true) throw new Error('the feed has ended')
          text += String(part.value)
          continue
        }
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const event = /^event: (.*)$/m.exec(block)?.[1]
        if (event === undefined) continue // The event is a comment, or the time to retry.
        const data = /^data: (.*)$/m.exec(block)?.[1] ?? ''
        return { event, data: JSON.parse(data) as unknown, bytes: Buffer.byteLength(data) }
      }
    }
    /** Resolves with the data of the next event of this name. */
    const until = async <Data>(name: string): Promise<Data> => {
      for (;;) {
        const { event, data } = await next()
        if (event === name) return data as Data
      }
    }
    return { status: response.statusCode, headers: response.headers, next, until, close: () => response.destroy() }
  }

  return {
    port,
    ask,
    listen,
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
