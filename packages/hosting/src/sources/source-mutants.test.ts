/**
 * Runs sources that lose, duplicate or leave servers, each with one defect. The source scenes must find every defect.
 */
import { NoCapacity } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createTestAllocator } from './allocator.fixture.js'
import { createPolledSource } from './polled-source.js'
import type { ServerAllocator } from './server-allocator.js'
import { scenes, type SourceKind } from './source-scenes.fixture.js'
import { createFaults, LAG_MS, type WorldOptions } from './source-world.fixture.js'
import type { OpenSource, ServerSource, SourceListener } from './source.js'

type Own = ReturnType<typeof createTestAllocator>

interface Mutant {
  /** Changes the allocator. */
  readonly allocator?: (own: Own, options: WorldOptions) => Partial<ServerAllocator>
  /** Changes the allocator after faults were added to it. */
  readonly faulty?: (own: ServerAllocator, options: WorldOptions) => Partial<ServerAllocator>
  /** Changes the source that calls the allocator. */
  readonly source?: (
    open: OpenSource,
    options: WorldOptions & { readonly allocator: ServerAllocator },
  ) => (on: SourceListener) => ServerSource
  /** Returns the servers that run besides those of the allocator. */
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
  'a stop before the allocate is forgotten': {
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
  'a poll omits the last of many servers': {
    allocator: (own) => ({
      poll: async (ids, given) => (await own.allocator.poll(ids, given)).slice(0, 4),
    }),
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

  'a lost create counts as absent after one poll': {
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
  'a stop is confirmed before the server has stopped': {
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
  'servers of an earlier process are not followed': {
    source: (open) => {
      let opened = 0
      return (on) => {
        const own = open(on)
        return (opened += 1) === 1 ? own : { ...own, follow: () => {} }
      }
    },
  },
}

/** Returns the scenes that fail with this defect. */
async function failedBy(kind: SourceKind): Promise<readonly string[]> {
  const failed: string[] = []
  for (const [name, scene] of Object.entries(scenes)) {
    // The longest scene comes last, and is needed only if no other scene fails.
    if (failed.length > 0 && name.startsWith('leaves nothing')) continue
    await scene(kind).catch(() => failed.push(name))
  }
  return failed
}

test('a correct server source passes all shared test scenes of server sources', async () => {
  expect(await failedBy(kindOf({}))).toEqual([])
})

test.each(Object.entries(mutants))(
  'the shared test scenes of server sources detect the planted fault: %s',
  async (_, mutant) => {
    const failed = await failedBy(kindOf(mutant))
    expect(failed).not.toEqual([])
  },
)
