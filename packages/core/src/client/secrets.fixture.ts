import { inspect } from 'node:util'
import { expect } from 'vitest'
import type { ManualClock } from '../time.js'
import { clientOf } from './client.fixture.js'
import type { ClientOptions } from './config.js'

/** Returns everything that can be printed of an error and of the events, as one string. */
export const everything = (error: unknown, events: unknown = undefined) =>
  [
    error instanceof Error ? `${error.message}\n${String(error)}\n${error.stack}` : '',
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    JSON.stringify(events),
  ].join('\n')

export function expectHidden(secret: string, text: string) {
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
    expect(text.toLowerCase().includes(form.toLowerCase()), `${form} is shown in ${text}`).toBe(false)
  }
}

export function watched(options: Partial<ClientOptions> & { readonly clock: ManualClock }) {
  const client = clientOf({ retry: { attempts: 2 }, ...options })
  const events: unknown[] = []
  for (const name of ['request', 'response', 'retry', 'throttled'] as const)
    client.events.on(name, (event) => events.push(event))
  return { client, events }
}

export const failure = (clock: ManualClock, call: Promise<unknown>) =>
  clock.until(
    call.catch((error: unknown) => error),
    5000,
  )
