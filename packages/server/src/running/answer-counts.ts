import type { RequestListener } from 'node:http'

/** How many requests were answered since the start, by the class of the status: `2xx` and so on. */
export interface AnswerCounts {
  readonly counts: () => Readonly<Record<string, number>>
  /** A listener that does the same, and is counted. An answer that its client did not wait for is not. */
  readonly counting: (listener: RequestListener) => RequestListener
}

export function createAnswerCounts(): AnswerCounts {
  const counts: Record<string, number> = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }
  return {
    counts: () => counts,
    counting: (listener) => (message, response) => {
      response.once('finish', () => {
        const status = `${Math.floor(response.statusCode / 100)}xx`
        counts[status] = (counts[status] ?? 0) + 1
      })
      listener(message, response)
    },
  }
}
