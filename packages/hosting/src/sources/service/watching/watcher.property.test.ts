/** Whatever happens, forgotten deployments are never read. */
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestService } from '../../../service.fixture.js'
import { createWatchedSet } from './status-reader.js'
import { Watcher } from './watcher.js'
import { newWatched } from './read-budget.js'

interface Step {
  readonly kind: 'deploy' | 'sweep' | 'pass' | 'settle' | 'forget' | 'hint'
  /** Milliseconds to pass, or the number of the followed deployment to which the event happens. */
  readonly by: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('deploy', 'sweep', 'pass', 'settle', 'forget', 'hint'),
  by: fc.integer({ min: 1, max: 400 }),
})

test('property: only deployments that are followed are read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), fc.boolean(), async (steps, listsNothing) => {
      const clock = createManualClock()
      const service = createTestService({
        clock,
        latencyMs: () => 100,
        pageSize: 2,
        listLagMs: listsNothing ? Infinity : 0,
      })
      const followed: string[] = []
      const orphans: string[] = []
      const forget = (requestId: string) => {
        watcher.forget(requestId)
        if (followed.includes(requestId)) followed.splice(followed.indexOf(requestId), 1)
      }
      const watcher = new Watcher({
        service: {
          ...service.deployments,
          get: (input, options) => {
            if (!followed.includes(input.request_id)) orphans.push(input.request_id)
            return service.deployments.get(input, options)
          },
        },
        tag: 'mm-a',
        clock,
        listLagMs: 1000,
        readsPerSecond: 19,
        pushed: false,
        report: ({ kind, handle }) => (kind === 'ready' ? watcher.settle(handle) : forget(handle)),
        stranger: () => {},
        problem: () => {},
      })
      for (const { kind, by } of steps) {
        if (kind === 'deploy') {
          const adding = service.add(['mm-a'])
          await clock.advance(200)
          const { request_id } = await adding
          followed.push(request_id)
          watcher.follow(request_id, 'k')
        } else if (kind === 'sweep') {
          await clock.advance(30_000)
          watcher.readDue(clock.now())
        } else if (kind === 'pass') {
          await clock.advance(by)
          watcher.readDue(clock.now())
        } else {
          const requestId = followed[by % Math.max(1, followed.length)]
          if (requestId === undefined) continue
          if (kind === 'settle') watcher.settle(requestId)
          else if (kind === 'hint') watcher.hint(requestId)
          else forget(requestId)
        }
      }
      for (const requestId of followed.toReversed()) forget(requestId)
      await clock.advance(60_000)
      for (let look = 0; look < 20; look += 1) {
        watcher.readDue(clock.now())
        await clock.advance(1000)
      }
      expect(orphans).toEqual([])
      watcher.close()
    }),
  )
})

test('property: only followed deployments are marked as possibly changed, for any order of events', () => {
  const change = fc.tuple(fc.constantFrom('add', 'settle', 'remove', 'suspect', 'clear'), fc.nat(1))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
      const set = createWatchedSet()
      const all = ['a', 'b'].map((id) => newWatched(id, 'k', 0))
      for (const [kind, nth] of changes) {
        const one = all[nth] as (typeof all)[number]
        if (kind === 'add') set.add(one)
        else if (kind === 'suspect') set.suspect(one)
        else if (kind === 'clear') set.clear(one)
        else if (kind === 'settle') set.settle(one.requestId)
        else set.remove(one.requestId)
        for (const member of [...set.suspects, ...set.starting.values()]) expect(set.has(member)).toBe(true)
      }
    }),
  )
})
