import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { nodeListener, type HttpHandler } from '@muster/core/http'
import type { Ready } from './readiness.js'
import { isReading, json, pathOf, redirect } from './answers.js'

/** What those who run the program ask of it. */
export interface OperationsOptions {
  readonly ready: () => Promise<Ready>
  /** Undefined where it is not served here. */
  readonly console: HttpHandler | undefined
  /** Answers a scrape; undefined where it is not served here. */
  readonly metrics: RequestListener | undefined
}

/** Answers a request of those who run the program; false for any other request. */
export type Operations = (message: IncomingMessage, response: ServerResponse) => boolean

/** `/healthz`, `/readyz`, `/metrics` and `/console`, to which `/` leads. */
export function createOperations({ ready, console, metrics }: OperationsOptions): Operations {
  const page = console && nodeListener(console)
  const answerReady = async (response: ServerResponse) => {
    const { is, why, leading } = await ready()
    json(response, is ? 200 : 503, { ready: is, why, leading })
  }
  const answerTo = (path: string, message: IncomingMessage): RequestListener | undefined => {
    if (path === '/healthz') return (_, response) => json(response, 200, { alive: true })
    if (path === '/readyz') return (_, response) => void answerReady(response)
    if (path === '/metrics') return metrics
    if (path === '/console' || path.startsWith('/console/')) return page
    return path === '/' && page !== undefined && isReading(message)
      ? (_, response) => redirect(response, '/console/')
      : undefined
  }
  return (message, response) => {
    const answer = answerTo(pathOf(message), message)
    answer?.(message, response)
    return answer !== undefined
  }
}
