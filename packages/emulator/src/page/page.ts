import { createHash } from 'node:crypto'
import type { Faults } from '../faults/faults.js'
import { json, message, type Reply } from '../http/reply.js'
import type { World } from '../world.js'
import { pageHtml } from './page-html.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'
import { readPageState } from './read-page-state.js'

/** Answers what is asked about the emulator itself, beside the service; undefined for every other path. */
export type Page = (method: string, path: string) => Reply | undefined

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Without CORS headers, so that no other site's pages can read it. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
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

/** The page at /_emulator and what it shows, as JSON, at /_emulator/state. */
export function createPage(world: World, faults: Faults): Page {
  const answers: Readonly<Record<string, () => Reply>> = {
    '/_emulator': () => ({
      status: 200,
      headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
      body: pageHtml(readPageState(world, faults)),
    }),
    '/_emulator/state': () => json(200, readPageState(world, faults), headers),
  }
  return (method, path) => {
    if (!Object.hasOwn(answers, path)) return undefined
    if (method !== 'GET') return message(405, 'the page can only be read', { allow: 'GET' })
    return answers[path]?.()
  }
}
