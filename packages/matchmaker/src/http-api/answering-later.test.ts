/*
 * All tests of the ticket API once more, over services that answer by promises: where tickets are kept by several
 * processes, every answer is asynchronous.
 */
import { describe } from 'vitest'
import { answerLater } from './ticket-api.fixture.js'

answerLater()

const FILES = [
  'backend-tickets',
  'backfills',
  'body-checks',
  'explanation',
  'groups',
  'large-players',
  'overviews.me',
  'parties',
  'presence',
  'playing',
  'queues',
  'request-limits',
  'routes.security',
  'callers.stream-tokens',
  'ticket-api',
  'tickets',
  'waiting',
]

describe('the ticket API over a matchmaker that answers asynchronously', async () => {
  // With a new URL for each import, files that this process has loaded already run again.
  for (const name of FILES) await import(/* @vite-ignore */ new URL(`./${name}.test.ts?later`, import.meta.url).href)
})
