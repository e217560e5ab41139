import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** Returns the path of a request without its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

export const isReading = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD'

export function json(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}

export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location, 'content-length': 0 }).end()
}

/** Counts the responses since the start, by the class of the status: `2xx` and so on. */
export function createAnswerCounts() {
  const counts: Record<string, number> = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }
  return {
    counts: (): Readonly<Record<string, number>> => counts,
    /** Wraps a listener so that its responses are counted. A response whose client has disconnected is not counted. */
    counting:
      (listener: RequestListener): RequestListener =>
      (message, response) => {
        response.once('finish', () => {
          const status = `${Math.floor(response.statusCode / 100)}xx`
          counts[status] = (counts[status] ?? 0) + 1
        })
        listener(message, response)
      },
  }
}
