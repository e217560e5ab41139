/** What a store rewrites follows from what is live: at most a third more than all that was appended. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createManualClock } from '@muster/core/clock'
import { openStore } from './file-store.js'
import type { ServerEntry } from './server-log.js'
import { createServerLog } from './server-log.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-growth-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** All entries of a match of 100 until its players play. */
function entriesOfMatch(nth: number): readonly ServerEntry[] {
  const matchId = `m${nth}`
  const ticketIds = Array.from({ length: 100 }, (_, index) => `ticket-${nth}-${index}`)
  const playerIds = ticketIds.map((id) => `player-of-${id}`)
  const resumption = { expansionMs: 0, secret: 'secret', tries: [], placements: undefined }
  return [
    { kind: 'intent', matchId, queue: 'q', tag: `match-${matchId}`, ticketIds, playerIds, at: 1, resumption },
    { kind: 'sent', matchId, at: 2, resumption },
    { kind: 'created', matchId, requestId: `r${nth}` },
    { kind: 'assigned', matchId },
  ]
}

test.each([
  ['go on', Infinity],
  ['end while others begin', 50],
])('1,000 matches of 100 that %s', async (_, mostLive) => {
  const path = join(folder, String(mostLive))
  const clock = createManualClock()
  const store = await openStore({ path, fsync: 'never', compactAtBytes: 2 ** 16, clock })
  const servers = createServerLog(store)
  let appended = 0
  let rewritten = 0
  let { ino } = statSync(path)
  const append = async (entry: ServerEntry) => {
    appended += JSON.stringify(entry).length
    await servers.append(entry)
    await clock.advance(1000)
    await store.advance()
  }
  for (let nth = 0; nth < 1000; nth += 1) {
    for (const entry of entriesOfMatch(nth)) await append(entry)
    if (nth >= mostLive) await append({ kind: 'settled', matchId: `m${nth - mostLive}` })
    // A rewrite makes a new file.
    const now = statSync(path)
    if (now.ino !== ino) rewritten += now.size
    ino = now.ino
  }
  await store.close()
  expect(rewritten).toBeGreaterThan(0)
  // It is rewritten at four times what was live: 1 + 1/4 + 1/16 … of the last rewrite in all.
  expect(rewritten / appended).toBeLessThan(1.34)
})
