/** Sources that are wrong in one way each: the scenes of sources have to find every one. */
import { NoCapacity, NotFound } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestAllocator } from './allocator.fixture.js'
import { createPolledSource } from './polled-source.js'
import type { AllocatedServer, ServerAllocator } from './server-allocator.js'
import { scenes, type SourceKind } from './source-scenes.fixture.js'
import { createFaults, LAG_MS, type WorldOptions } from './source-world.fixture.js'
import type { OpenSource, ServerSource, SourceListener } from './source.js'

type Own = ReturnType<typeof createTestAllocator>

interface Mutant {
  /** What is wrong with an allocator. */
  readonly allocator?: (own: Own, options: WorldOptions) => Partial<ServerAllocator>
  /** What is wrong with what its faults make of it. */
  readonly faulty?: (own: ServerAllocator, options: WorldOptions) => Partial<ServerAllocator>
  /** What is wrong with what speaks to it. */
  readonly source?: (
    open: OpenSource,
    options: WorldOptions & { readonly allocator: ServerAllocator },
  ) => (on: SourceListener) => ServerSource
  /** Servers that run besides those of the allocator. */
  readonly running?: (own: Own) => readonly string[]
}

const kindOf =
  ({ allocator: wrong, faulty: wrongly, source, running }: Mutant): SourceKind =>
  (options) => {
    const own = createTestAllocator({ clock: options.clock })
    const behind = { ...own.allocator, ...wrong?.(own, options) }
    const faulty = createFaults(options)
    const right: ServerAllocator = {
      allocate: (wanted, given) => faulty(true, () => behind.allocate(wanted, given)),
      poll: (ids, given) => faulty(false, () => behind.poll(ids, given)),
      stop: (id, given) => faulty(false, () => behind.stop(id, given)),
    }
    const allocator = { ...right, ...wrongly?.(right, options) }
    const polled = createPolledSource({ allocator, clock: options.clock, random: seededRandom(1), lagMs: LAG_MS })
    return {
      open: source === undefined ? polled : source(polled, { ...options, allocator }),
      running: () => [...own.running(), ...(running?.(own) ?? [])],
      end: own.end,
      garble: own.garble,
      settle: async () => {},
    }
  }

const knows = (own: Own, id: string) => own.servers.has(id)

const mutants: Readonly<Record<string, Mutant>> = {
  'an early stop is forgotten': {
    allocator: (own) => ({
      stop: async (id, given) => (knows(own, id) ? own.allocator.stop(id, given) : undefined),
    }),
  },
  'a second allocate of an id starts a second server': (() => {
    const second = new WeakMap<Own, string[]>()
    return {
      allocator: (own) => {
        const more: string[] = []
        second.set(own, more)
        return {
          allocate: async (wanted, given) => {
            if (knows(own, wanted.id)) more.push(wanted.id)
            await own.allocator.allocate(wanted, given)
          },
          stop: async (id, given) => {
            await own.allocator.stop(id, given)
            more.splice(0, more.length, ...more.filter((one) => one !== id))
          },
        }
      },
      running: (own) => second.get(own) ?? [],
    } satisfies Mutant
  })(),
  'a stop of an unknown id is answered 404': {
    allocator: (own) => ({
      stop: async (id, given) => {
        if (!knows(own, id)) throw new NotFound('stop: status 404')
        await own.allocator.stop(id, given)
      },
    }),
  },
  'a second stop is answered 404': {
    faulty: (own) => {
      const stopped = new Set<string>()
      return {
        stop: async (id, given) => {
          if (stopped.has(id)) throw new NotFound('stop: status 404')
          stopped.add(id)
          await own.stop(id, given)
        },
      }
    },
  },
  'a stop is confirmed and does nothing to a server that starts': {
    allocator: (own) => ({
      stop: async (id, given) => {
        const [said] = await own.allocator.poll([id], given)
        if (said?.status !== 'starting') await own.allocator.stop(id, given)
      },
    }),
  },
  'a poll misses the last of many': {
    allocator: (own) => ({
      poll: async (ids, given) => (await own.allocator.poll(ids, given)).slice(0, 4),
    }),
  },
  'a poll answers for the first alone': {
    allocator: (own) => ({
      poll: async (ids, given) => own.allocator.poll(ids.slice(0, 1), given),
    }),
  },
  'a poll shows a server later than its lag says': {
    allocator: (own, { clock }) => ({
      poll: async (ids, given) => {
        const shown = ids.filter((id) => clock.now() - (own.servers.get(id)?.at ?? 0) >= 2 * LAG_MS)
        return own.allocator.poll(shown, given)
      },
    }),
  },
  'a poll calls a server that has ended ready': {
    allocator: (own) => ({
      poll: async (ids, given) =>
        (await own.allocator.poll(ids, given)).map((said): AllocatedServer =>
          said.status === 'failed' || said.status === 'ended' ? { ...said, status: 'ready', host: 'h' } : said,
        ),
    }),
  },
  'a poll calls a server ready that has no address': {
    allocator: (own) => ({
      poll: async (ids, given) => (await own.allocator.poll(ids, given)).map(({ id, status }) => ({ id, status })),
    }),
  },
  'no poll is answered once it has failed': {
    faulty: (own) => {
      let hasFailed = false
      return {
        poll: async (ids, given) => {
          if (hasFailed) throw new Error('503')
          try {
            return await own.poll(ids, given)
          } catch (error) {
            hasFailed = true
            throw error
          }
        },
      }
    },
  },
  'a server is started though there was no capacity': {
    faulty: (own) => ({
      allocate: async (wanted, given) => {
        try {
          await own.allocate(wanted, given)
        } catch (error) {
          if (error instanceof NoCapacity) await own.allocate(wanted, given)
          throw error
        }
      },
    }),
  },
  'one wrong entry fails a whole poll': {
    allocator: (own) => ({
      poll: async (ids, given) => {
        const said = await own.allocator.poll(ids, given)
        if (said.some(({ status }) => String(status) === 'odd')) throw new Error('the answer has another shape')
        return said
      },
    }),
  },
  'one wrong entry counts as an end': {
    allocator: (own) => ({
      poll: async (ids, given) =>
        (await own.allocator.poll(ids, given)).filter(({ status }) => String(status) !== 'odd'),
    }),
  },

  'a lost create counts as absent by one poll': {
    source:
      (open, { allocator, clock }) =>
      (on) => {
        const own = open(on)
        const looked = new Set<string>()
        return {
          ...own,
          find: (lost) => {
            looked.add(lost.id)
            void clock.sleep(500).then(async () => {
              const [said] = await allocator.poll([lost.id], { timeoutMs: 1000 }).catch(() => [])
              if (said?.status === 'unknown') on.absent(lost.id)
              else own.find(lost)
            })
          },
        }
      },
  },
  'a lost create counts as absent once nobody answers': {
    source: (open) => (on) => {
      const own = open({
        ...on,
        problem: (during, error, about) => (about.id ? on.absent(about.id) : on.problem(during, error, about)),
      })
      return own
    },
  },
  'ends are seen late': {
    source:
      (open, { clock }) =>
      (on) =>
        open({
          ...on,
          changed: (change) =>
            change.kind === 'ready' ? on.changed(change) : void clock.sleep(5000).then(() => on.changed(change)),
        }),
  },
  'ends are told as failures of other servers': {
    source: (open) => (on) => {
      let last = ''
      return open({
        ...on,
        changed: (change) => {
          on.changed(change.kind === 'ready' ? change : { ...change, handle: last })
          last = change.handle
        },
      })
    },
  },
  'a stop is confirmed before it is': {
    source: (open) => (on) => {
      const own = open(on)
      return {
        ...own,
        stop: (order) => {
          own.stop({ ...order, confirmed: () => {} })
          order.confirmed()
        },
      }
    },
  },
  'a stop is confirmed twice': {
    source: (open) => (on) => {
      const own = open(on)
      return {
        ...own,
        stop: (order) =>
          own.stop({
            ...order,
            confirmed: () => {
              order.confirmed()
              order.confirmed()
            },
          }),
      }
    },
  },
  'a stop that failed is not repeated': {
    source:
      (open, { allocator }) =>
      (on) => ({
        ...open(on),
        stop: ({ handle, confirmed }) => {
          allocator.stop(handle, { timeoutMs: 1000 }).then(confirmed, () => {})
        },
      }),
  },
  'what an earlier process created is not followed': {
    source: (open) => {
      let opened = 0
      return (on) => {
        const own = open(on)
        return (opened += 1) === 1 ? own : { ...own, follow: () => {} }
      }
    },
  },
  'what an earlier process asked for is not looked for': {
    source: (open) => {
      let opened = 0
      return (on) => {
        const own = open(on)
        return (opened += 1) === 1 ? own : { ...own, find: () => {} }
      }
    },
  },
}

/** The scenes that a world fails. */
async function failedBy(kind: SourceKind): Promise<readonly string[]> {
  const failed: string[] = []
  for (const [name, scene] of Object.entries(scenes)) {
    // The longest one comes last, and only matters where no other finds anything.
    if (failed.length > 0 && name.startsWith('leaves nothing')) continue
    await scene(kind).catch(() => failed.push(name))
  }
  return failed
}

test('no scene fails what is right', async () => {
  expect(await failedBy(kindOf({}))).toEqual([])
})

test.each(Object.entries(mutants))('%s', async (_, mutant) => {
  const failed = await failedBy(kindOf(mutant))
  expect(failed).not.toEqual([])
})
