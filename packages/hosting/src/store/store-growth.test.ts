/**
 * Rewrites of a store depend only on the live records: together they write at most a third more than all appended
 * lines.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createManualClock } from '@muster/core/clock'
import { openStore } from './file-store.js'
import type { HostingEntry } from './entries.js'
import { createServerLog } from './server-log.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-growth-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Returns the entries of a match of 100 players until they play. */
function entriesOfMatch(nth: number): readonly (readonly HostingEntry[])[] {
  const matchId = `m${nth}`
  const serverId = matchId
  const ticketIds = Array.from({ length: 100 }, (_, index) => `ticket-${nth}-${index}`)
  const playerIds = ticketIds.map((id) => `player-of-${id}`)
  const resumption = { tries: [], placements: undefined }
  return [
    [
      { kind: 'match', matchId, queue: 'q', ticketIds, playerIds, at: 1, serverId, resumption: { expansionMs: 0 } },
      { kind: 'server', serverId, queue: 'q', tag: `match-${matchId}`, at: 1, bornFor: matchId, resumption },
    ],
    [{ kind: 'sent', serverId, at: 2, resumption }],
    [{ kind: 'created', serverId, requestId: `r${nth}` }],
    [
      { kind: 'up', serverId },
      { kind: 'playing', matchId, at: 3 },
    ],
  ]
}

test.each([
  ['continue', Infinity],
  ['end while others begin', 50],
])('the store file stays small under 1,000 matches that %s', async (_, mostLive) => {
  const path = join(folder, String(mostLive))
  const clock = createManualClock()
  const store = await openStore({ path, fsync: 'never', compactAtBytes: 2 ** 16, clock })
  const servers = createServerLog(store)
  let appended = 0
  let rewritten = 0
  let { ino } = statSync(path)
  const append = async (entries: readonly HostingEntry[]) => {
    appended += JSON.stringify(entries).length
    await servers.append(entries)
    await clock.advance(1000)
    await store.advance()
  }
  for (let nth = 0; nth < 1000; nth += 1) {
    for (const entries of entriesOfMatch(nth)) await append(entries)
    const ended = `m${nth - mostLive}`
    if (nth >= mostLive)
      await append([
        { kind: 'gone', serverId: ended },
        { kind: 'over', matchId: ended },
      ])
    // A rewrite creates a new file.
    const now = statSync(path)
    if (now.ino !== ino) rewritten += now.size
    ino = now.ino
  }
  await store.close()
  expect(rewritten).toBeGreaterThan(0)
  // The file is rewritten when it has grown fourfold. So all rewrites together write 1 + 1/4 + 1/16 … of the last one.
  expect(rewritten / appended).toBeLessThan(1.34)
})
