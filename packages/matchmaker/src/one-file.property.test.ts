/**
 * A crash, a full disk or a lost write may cut the store's file anywhere after the last forced byte. Damage may also
 * hit only lines of tickets or only lines of servers. Whatever is lost, no playing player may be sent to a second
 * server, and no server may be left.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlayerBusy, PlayerPlaying } from './errors.js'
import { createWorld, duel } from './logged-matchmaker.fixture.js'
import type { ServerLog } from '@muster/hosting/internal'

const PLAYERS = ['ann', 'ben', 'cas', 'dee']
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('join' as const), player: fc.constantFrom(...PLAYERS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.constantFrom(250, 1000, 6500) }) },
)

/** Tracks how many bytes of the file are on the disk. A create is sent only once its entry is on the disk. */
function onDisk(path: () => string) {
  let begun = 0
  let forced = 0
  const over = (serverLog: ServerLog): ServerLog => ({
    ...serverLog,
    append: (entries) => {
      const appended = serverLog.append(entries)
      if (entries.some(({ kind }) => kind === 'sent')) forced = statSync(path()).size
      return appended
    },
  })
  const isOfServer = (line: string) => /^.{8} (server|match)/.test(line)
  return {
    over,
    begin: () => (begun = forced = statSync(path()).size),
    losses: {
      /** Removes everything after a byte that was not forced to the disk. */
      end: (bytes: Buffer, at: number) => bytes.subarray(0, forced + (at % (bytes.length - forced + 1))),
      /** Removes the lines of tickets after a byte, forced or not. */
      tickets: (bytes: Buffer, at: number) => {
        const cut = begun + (at % (bytes.length - begun + 1))
        const whole = bytes.lastIndexOf('\n', cut - 1) + 1
        const after = bytes.toString('latin1', whole).split('\n')
        const kept = after.filter(isOfServer).map((line) => `${line}\n`)
        return Buffer.from(bytes.toString('latin1', 0, whole) + kept.join(''), 'latin1')
      },
      /** Removes the last lines of servers that were not forced to the disk. */
      servers: (bytes: Buffer, count: number) => {
        const after = bytes.subarray(forced).toString('latin1').split('\n')
        const ofServers = after.filter(isOfServer)
        const lost = new Set(ofServers.slice(Math.max(0, ofServers.length - (count % 4))))
        const kept = after.filter((line) => !lost.has(line))
        return Buffer.concat([bytes.subarray(0, forced), Buffer.from(kept.join('\n'), 'latin1')])
      },
    },
  }
}

const queues = [duel, { ...duel, name: 'sides', matchSize: undefined, teams: [{ name: 'side', count: 2, size: 1 }] }]

test.each(['duel', 'sides'])(
  'property: in queue %s no player in a match is sent to a second server after a restart',
  async (queue) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 14 }),
        fc.nat(),
        fc.constantFrom('end' as const, 'tickets' as const, 'servers' as const),
        async (steps, at, lost) => {
          const world = createWorld({ queues })
          try {
            const disk = onDisk(world.path)
            const first = await world.live({ over: disk.over })
            first.log.flush()
            disk.begin()
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
            writeFileSync(world.path(), disk.losses[lost](readFileSync(world.path()), at))

            const second = await world.live()
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
      { numRuns: 16 },
    )
  },
)

test('after a restart a player gets the same assignment, even if only a server’s record names the match', async () => {
  const world = createWorld({ queues })
  try {
    const first = await world.live()
    first.join('ann')
    first.join('ben')
    first.log.flush()
    const waiting = readFileSync(world.path()).length
    await first.run(8000)
    const before = first.matchmaker.getTicket('ann')
    world.kill()
    const bytes = readFileSync(world.path())
    const after = bytes.subarray(waiting).toString().split('\n')
    const ofServers = after.filter((line) => /^.{8} (server|match)/.test(line)).map((line) => `${line}\n`)
    writeFileSync(world.path(), bytes.subarray(0, waiting).toString() + ofServers.join(''))
    const next = await world.live()
    expect(next.matchmaker.getTicket('ann')).toMatchObject({
      status: 'HOST_ASSIGNED',
      matchId: before?.matchId,
      assignment: JSON.parse(JSON.stringify(before?.assignment)) as unknown,
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
