import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ServerState } from './server-overview.js'

const STATES: Record<ServerState, true> = {
  STARTING: true,
  IDLE: true,
  TAKEN: true,
  PLAYING: true,
  DRAINING: true,
  LOST: true,
  STOPPING: true,
  GONE: true,
  FAILED: true,
}

test('docs/servers.md lists every state of a server, and each can be reached from STARTING', () => {
  const page = readFileSync(new URL('../../../../docs/servers.md', import.meta.url), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| [A-Z]+ \|/.test(line))
  const nexts = new Map(
    rows.map((row) => {
      const [, state, , steps] = row.split('|').map((cell) => cell.trim())
      return [state as string, Array.from((steps as string).matchAll(/(?:^|<br>)([A-Z]+):/g), ([, to]) => to as string)]
    }),
  )
  expect([...nexts.keys()]).toEqual(Object.keys(STATES))
  const reached = new Set(['STARTING'])
  for (const state of reached) for (const next of nexts.get(state) ?? []) reached.add(next)
  expect([...reached].toSorted()).toEqual(Object.keys(STATES).toSorted())
})
