/**
 * The ticket log and the journal are two files, and a crash, a full disk or a lost unforced write may leave either of
 * them behind the other. Whatever is lost, nobody who plays is sent to a second server, and no server is left.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlayerBusy, PlayerPlaying } from './errors.js'
import { createWorld, duel } from './logged-matchmaker.fixture.js'
import type { Journal, JournalEntry } from '@muster/servers'
import { applyEntry, type OpenIntent } from '@muster/servers/internal'

const PLAYERS = ['ann', 'ben', 'cas', 'dee']
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), player: fc.constantFrom(...PLAYERS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(250, 1000, 6500) }) },
)

/** A journal on a disk that may lose entries that were not forced onto it. */
function createDisk() {
  let entries: JournalEntry[] = []
  const open = () => {
    const intents = new Map<string, OpenIntent>()
    for (const entry of entries) applyEntry(intents, entry)
    return [...intents.values()]
  }
  /** The journal of one process, which writes nothing once that was killed. */
  const ofProcess = () => {
    let isDead = false
    const journal: Journal = { open, append: (entry) => void (isDead || entries.push(entry)) }
    return { journal, kill: () => (isDead = true) }
  }
  /** Loses entries after the last that was forced: `sent` is, before a create leaves. */
  const lose = (count: number) => {
    const forced = entries.findLastIndex(({ kind }) => kind === 'sent') + 1
    entries = entries.slice(0, Math.max(forced, entries.length - count))
  }
  return { ofProcess, lose }
}

const queues = [duel, { ...duel, name: 'sides', matchSize: undefined, teams: [{ name: 'side', count: 2, size: 1 }] }]

test.each(['duel', 'sides'])('queue %s: nobody who plays is sent to a second server', async (queue) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      fc.nat(),
      fc.nat(3),
      fc.boolean(),
      async (steps, cutAt, lost, isLogCut) => {
        const world = createWorld({ queues })
        try {
          const disk = createDisk()
          const process = disk.ofProcess()
          const first = await world.live({ journal: process.journal })
          first.log.flush()
          const begun = readFileSync(world.path()).length
          const join = ({ matchmaker }: typeof first, id: string) => {
            try {
              matchmaker.createTicket({ queue, players: [{ id, ip: '192.0.2.1' }] })
            } catch (error) {
              if (!(error instanceof PlayerBusy || error instanceof PlayerPlaying)) throw error
            }
          }
          for (const one of steps) {
            if (one.kind === 'run') await first.run(one.ms)
            else join(first, one.player)
          }
          const told = new Map<string, string>()
          for (const { matchId, requestId, tickets } of first.seen.serverAssigned ?? [])
            if (world.service.unstopped().includes(requestId))
              for (const { players } of tickets) for (const { id } of players) told.set(id, matchId)
          world.kill()
          process.kill()
          if (isLogCut) {
            const bytes = readFileSync(world.path())
            writeFileSync(world.path(), bytes.subarray(0, begun + (cutAt % (bytes.length - begun + 1))))
          } else disk.lose(lost)

          const next = disk.ofProcess()
          const second = await world.live({ journal: next.journal })
          for (const id of PLAYERS) {
            const { tickets } = second.matchmaker.findPlayer(id)
            const waits = tickets.some(({ status }) => status === 'SEARCHING')
            expect(waits && told.has(id), `${id} plays and searches`).toBe(false)
          }
          for (let round = 0; round < 5; round += 1) {
            for (const id of PLAYERS) join(second, id)
            await second.run(3000)
          }
          for (const { matchId, tickets } of second.seen.serverAssigned ?? [])
            for (const { players } of tickets)
              for (const { id } of players) expect([id, told.get(id) ?? matchId]).toEqual([id, matchId])
          for (const { matchId } of second.matchmaker.inspect().matches) void second.matchmaker.stopMatch(matchId)
          await second.run(10_000)
          const wanted = second.matchmaker.inspect().matches.map(({ requestId }) => requestId)
          expect(world.service.unstopped().filter((id) => !wanted.includes(id))).toEqual([])
        } finally {
          await world.remove()
        }
      },
    ),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 25 },
  )
})

test('who plays by the journal alone is assigned again, as it was', async () => {
  const world = createWorld({ queues })
  try {
    const first = await world.live()
    first.join('ann')
    first.join('ben')
    first.log.flush()
    const waiting = readFileSync(world.path())
    await first.run(8000)
    const before = first.matchmaker.getTicket('ann')
    world.kill()
    writeFileSync(world.path(), waiting)
    const next = await world.live()
    expect(next.matchmaker.getTicket('ann')).toMatchObject({
      status: 'HOST_ASSIGNED',
      matchId: before?.matchId,
      assignment: before?.assignment,
      team: before?.team,
    })
    await next.run(8000)
    expect(world.service.records).toHaveLength(1)
    await next.matchmaker.playersLeft(before?.matchId ?? '', ['ann', 'ben'])
    await next.run(3000)
    expect(world.service.unstopped()).toEqual([])
  } finally {
    await world.remove()
  }
})
