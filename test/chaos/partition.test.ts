import { seededRandom, systemClock } from '@muster/core/clock'
import { skipsRedis } from '@muster/redis-server'
import { afterEach, describe, expect, test } from 'vitest'
import { createWitness } from './partition-witness.js'
import { openWorld } from './partition-world.js'
import { endAll, type Victim } from './processes.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
/** Duration of the faults in seconds. `pnpm soak redis` runs longer. */
const seconds = Number(process.env['CHAOS_SECONDS'] ?? 30)
/** Milliseconds after the last fault within which every ticket must have ended. */
const CALM_MS = 45_000
afterEach(endAll)

const BAD_WEATHER = ['slow', 'refused', 'black hole', 'deaf'] as const

describe.skipIf(skipsRedis())('the processes of a partition', () => {
  test(
    `partition processes keep all promises under kills, stops and cut connections for ${seconds} s (seed ${seed})`,
    async () => {
      const { redis, proxy, begin, ask, servers, leaders, unhandled } = await openWorld(seed)
      const random = seededRandom(seed)
      const below = (end: number) => Math.floor(random() * end)
      const witness = createWitness()
      const alive = await Promise.all([begin(), begin(), begin()])
      const paused = new Set<Victim>()
      const counts = { tickets: 0, kills: 0, pauses: 0, redisKills: 0, redisPauses: 0, cuts: 0 }
      const any = () => alive[below(alive.length)] as Victim
      const open = new Set<Promise<unknown>>()
      const following = <T>(work: Promise<T>) => {
        open.add(work)
        void work.finally(() => open.delete(work))
      }

      const creating = async (id: string) => {
        const player = { id: `player of ${id}`, ip: '192.0.2.1' }
        const created = await ask(any(), 'createTicket', { id, queue: 'duel', players: [player] })
        if (created?.error === undefined && created !== undefined) witness.acknowledge(id)
      }
      const cancelling = async (id: string) => {
        const done = await ask(any(), 'cancelTicket', id)
        if (done !== undefined && done.error === undefined) witness.cancelled(id)
      }
      const reading = async (id: string) => witness.saw((await ask(any(), 'getTicket', id))?.answer)
      const pausing = async (one: Victim) => {
        counts.pauses += 1
        paused.add(one)
        one.signal('SIGSTOP')
        await systemClock.sleep(500 + below(3000))
        one.signal('SIGCONT')
        paused.delete(one)
      }
      const killing = async (one: Victim) => {
        counts.kills += 1
        alive.splice(alive.indexOf(one), 1)
        leaders.delete(one)
        await one.kill()
        alive.push(await begin())
      }
      /** Chooses the process to harm: in 70 % of cases the leader. */
      const victim = (): Victim | undefined => {
        const free = alive.filter((one) => !paused.has(one))
        const leading = free.filter((one) => leaders.has(one))
        const from = random() < 0.7 && leading.length > 0 ? leading : free
        return free.length > 1 ? from[below(from.length)] : undefined
      }
      const ill = async () => {
        const one = victim()
        const chance = random()
        if (chance < 0.3 && one !== undefined) await killing(one)
        else if (chance < 0.6 && one !== undefined) following(pausing(one))
        else if (chance < 0.68) {
          counts.redisKills += 1
          await redis.restart()
        } else if (chance < 0.76) {
          counts.redisPauses += 1
          redis.pause()
          await systemClock.sleep(300 + below(1500))
          redis.resume()
        } else {
          counts.cuts += 1
          proxy.turn(BAD_WEATHER[below(BAD_WEATHER.length)] ?? 'refused')
          await systemClock.sleep(300 + below(1500))
          proxy.turn('fair')
        }
      }

      const until = systemClock.now() + seconds * 1000
      const misfortunes = (async () => {
        while (systemClock.now() < until) {
          await systemClock.sleep(500 + below(2500))
          await ill()
        }
      })()
      while (systemClock.now() < until) {
        const id = `t${counts.tickets}`
        counts.tickets += 1
        following(creating(id))
        if (random() < 0.1) following(cancelling(`t${below(counts.tickets)}`))
        following(reading(`t${below(counts.tickets)}`))
        await systemClock.sleep(below(100))
      }
      await misfortunes
      await Promise.all(open)

      const ids = Array.from({ length: counts.tickets }, (_, index) => `t${index}`)
      const readAll = () => Promise.all(ids.map(async (id) => (await ask(any(), 'getTicket', id))?.answer))
      let broken: readonly string[] = ['nothing was looked at']
      for (const end = systemClock.now() + CALM_MS; systemClock.now() < end && broken.length > 0;) {
        await systemClock.sleep(1000)
        broken = witness.broken(await readAll(), (await servers()).deployments)
      }
      process.stdout.write(`${JSON.stringify({ ...counts, servers: (await servers()).deployments.length })}\n`)
      expect(broken).toEqual([])
      expect(unhandled).toEqual([])
      expect((await servers()).rejected).toEqual({})
      expect(witness.acknowledged.size).toBeGreaterThan(seconds * 2)
    },
    (seconds + 90) * 1000 + CALM_MS,
  )
})
