import { createHash } from 'node:crypto'
import { json, message, type Reply } from '../reply.js'
import { deploymentDetail, type PageSource, readPageState } from './read-page-state.js'
import { deploymentPage, unknownDeploymentPage } from './deployment-page.js'
import { overviewPage } from './overview-page.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'

/** A request whose path belongs to no operation. */
export interface PageRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: { get(name: string): string | null }
}

/** Handles requests for the emulator's own pages. Returns undefined for any other path. */
export type PageHandler = (request: PageRequest) => Reply | undefined

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The headers of all pages. They lack CORS headers, so that pages of other sites cannot read the responses. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "connect-src 'self'",
    'img-src data:',
    `script-src ${hashOf(pageScript)}`,
    `style-src ${hashOf(pageStyle)}`,
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

const markupReply = (status: number, body: string): Reply => ({
  status,
  headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
  body,
})

/**
 * The header that the page's stop button sends. Pages of other sites cannot send it without a CORS preflight, which is
 * rejected.
 */
const STOP_HEADER = 'x-muster-emulator'

const DEPLOYMENT = /^\/_emulator\/deployments\/(\w+)(\/stop)?$/

/** Creates the emulator's pages: /_emulator, one page per deployment, and the data as JSON at /_emulator/state. */
export function createPage(source: PageSource): PageHandler {
  const { world } = source
  const pages: Readonly<Record<string, (request: PageRequest) => Reply>> = {
    '/_emulator': ({ query }) => markupReply(200, overviewPage(readPageState(source, searchIn(query)))),
    '/_emulator/state': ({ query }) => json(200, readPageState(source, searchIn(query)), headers),
  }

  const deployment = (id: string): Reply => {
    const record = world.deployments.get(id)
    if (record === undefined) return markupReply(404, unknownDeploymentPage(id))
    return markupReply(200, deploymentPage(deploymentDetail(record, world.clock.now())))
  }

  const stop = (id: string, request: PageRequest): Reply => {
    const from = request.headers.get('sec-fetch-site')
    if (request.headers.get(STOP_HEADER) !== 'stop' || (from !== null && from !== 'same-origin')) {
      return message(
        403,
        `only the page's own button stops a deployment here: the header ${STOP_HEADER}: stop is missing`,
        headers,
      )
    }
    // If the token is secret, a stop requires it, because everybody who reaches the port can open the page.
    if (!source.isTokenKnown && request.headers.get('authorization') !== `token ${source.token}`) {
      return message(401, 'the API token is missing or wrong', headers)
    }
    const record = world.deployments.get(id)
    if (record === undefined) return message(404, 'no such deployment', headers)
    return json(200, { outcome: world.deployments.stop(record) }, headers)
  }

  return (request) => {
    const { method, path } = request
    if (path === '/') return toPage(request)
    const [, id, isStop] = DEPLOYMENT.exec(path) ?? []
    const answer = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (id === undefined && answer === undefined) return undefined
    const allow = isStop === undefined ? 'GET' : 'POST'
    if (method !== allow) return message(405, `method not allowed: this path accepts ${allow}`, { allow })
    if (id === undefined) return answer?.(request)
    return isStop === undefined ? deployment(id) : stop(id, request)
  }
}

/**
 * Redirects a browser from the root to the page. Programs get the usual response, because the root is not an operation.
 */
const toPage = ({ method, headers: sent }: PageRequest): Reply | undefined =>
  method === 'GET' && sent.get('accept')?.includes('text/html') === true
    ? { status: 302, headers: { location: '/_emulator', 'cache-control': 'no-store' }, body: '' }
    : undefined

const LONGEST_SEARCH = 200

const searchIn = (query: URLSearchParams): string => (query.get('q') ?? '').trim().slice(0, LONGEST_SEARCH)
