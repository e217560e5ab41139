import { ConnectionLost, NotFound, SendAborted, type CallOptions } from '@muster/core'
import type { Deployment } from '@muster/core/api'
import { createManualClock, seededRandom, type Clock, type Random } from '@muster/core/clock'
import type { DeploymentService, QueueDefinition, Ticket } from '@muster/matchmaker'
import { expect } from 'vitest'
import { createPartition, type Partition } from './partition.js'
import type { PartitionOptions } from './partition-options.js'
import { MemoryPartition } from './store/memory-partition.fixture.js'
import { openMemoryStore, type StoreHook } from './store/memory-store.fixture.js'
import type { PartitionStore } from './store/store.js'

export const duel = {
  name: 'duel',
  matchSize: 2,
  deploy: { application: 'game', version: '1' },
} satisfies QueueDefinition

export interface Server {
  readonly id: string
  readonly tags: readonly string[]
  readonly createdAt: number
  stoppedAt: number | undefined
  readonly environment?: Readonly<Record<string, string>>
  /** Time since which the server is in error, e.g. because it crashed. */
  failedAt?: number
}

/** A deployment service in which servers become READY after a delay, and calls take time. */
export class FakeService implements DeploymentService {
  readonly servers: Server[] = []
  readonly #clock: Clock
  readonly #readyMs: number
  /** Delay of a call in each direction, in milliseconds. */
  travelMs: () => number = () => 5
  /** Returns whether the response of a call is lost, or the call itself. Undefined: neither. */
  fault: (method: string) => 'answer' | 'call' | undefined = () => undefined

  constructor(clock: Clock, readyMs = 1000) {
    this.#clock = clock
    this.#readyMs = readyMs
  }

  async #call<T>(method: string, options: CallOptions | undefined, act: () => T): Promise<T> {
    const wrong = this.fault(method)
    if (options?.mayWrite?.() === false) throw new SendAborted('not sent', { sent: false })
    await this.#clock.sleep(this.travelMs())
    if (wrong === 'call') throw new ConnectionLost('lost', { sent: true })
    const answer = act()
    await this.#clock.sleep(this.travelMs())
    if (wrong === 'answer') throw new ConnectionLost('lost', { sent: true })
    return answer
  }
  #find(id: string): Server {
    const server = this.servers.find((one) => one.id === id)
    if (server === undefined) throw new NotFound('no such deployment')
    return server
  }
  #view(server: Server): Deployment {
    const { id, tags, createdAt, stoppedAt, failedAt } = server
    const now = this.#clock.now()
    const started = now - createdAt >= this.#readyMs ? 'Status.READY' : 'Status.DEPLOYING'
    const running = failedAt === undefined ? started : 'Status.ERROR'
    const status = stoppedAt === undefined ? running : 'Status.TERMINATED'
    return {
      request_id: id,
      current_status: status,
      elapsed_time: Math.floor((now - createdAt) / 1000),
      fqdn: `${id}.example.com`,
      public_ip: '203.0.113.9',
      ports: {
        game: { internal: 7777, external: 30_000, protocol: 'UDP', name: 'game', link: `${id}.example.com:30000` },
      },
      tags: [...tags],
    }
  }

  create: DeploymentService['create'] = ({ tags = [], environment_variables = [] }, options) =>
    this.#call('create', options, () => {
      const id = `r${this.servers.length + 1}`
      const environment = Object.fromEntries(environment_variables.map(({ key, value }) => [key, value]))
      this.servers.push({ id, tags, createdAt: this.#clock.now(), stoppedAt: undefined, environment })
      return { request_id: id }
    })
  get: DeploymentService['get'] = ({ request_id }, options) =>
    this.#call('get', options, () => this.#view(this.#find(request_id)))
  stop: DeploymentService['stop'] = ({ request_id }, options) =>
    this.#call('stop', options, () => {
      this.#find(request_id).stoppedAt ??= this.#clock.now()
      return { message: 'stopped' }
    })
  list: DeploymentService['list'] = ({ query, page = 1 }, options) =>
    this.#call('list', options, () => {
      const wanted = [query?.filters?.find(({ field }) => field === 'tags')?.value ?? []].flat().map(String)
      const running = this.servers.filter(({ stoppedAt }) => stoppedAt === undefined)
      const found = running.filter(({ tags }) => wanted.length === 0 || wanted.some((tag) => tags.includes(tag)))
      const data = found.slice((page - 1) * 100, page * 100).map((server) => ({
        ...this.#view(server),
        ready: server.failedAt === undefined,
      }))
      return { data, total_count: found.length, has_next: page * 100 < found.length } as never
    })

  running(): readonly Server[] {
    return this.servers.filter(({ stoppedAt }) => stoppedAt === undefined)
  }
}

/** A process that can be stopped at any await, temporarily or forever. */
export interface Process extends Partition {
  /** Stops the process: it makes no progress and receives nothing. */
  pause(): void
  resume(): void
}

/** Returns a store in which every former leader may write as if it still led. */
function withoutFences(store: PartitionStore, latest: { token: string }): PartitionStore {
  return {
    ...store,
    acquire: async (owner, leaseMs) => {
      const acquired = await store.acquire(owner, leaseMs)
      if (acquired.kind === 'acquired') latest.token = acquired.token
      return acquired
    },
    renew: async () => true,
    fence: async () => {},
    commit: (_, commit) => store.commit(latest.token, commit),
    sweep: (_, olderThanMs, most) => store.sweep(latest.token, olderThanMs, most),
  }
}

/**
 * Creates a partition for several processes, a service, and a clock that the test advances.
 * @param isFenced true if a deposed leader cannot write, as it must be. Default true.
 */
export function createWorld(given: Partial<PartitionOptions> = {}, isFenced = true) {
  const latest = { token: '' }
  const clock = createManualClock({ start: Date.UTC(2026, 0, 31) })
  const partition = new MemoryPartition(clock)
  const service = new FakeService(clock)
  const problems: unknown[] = []
  let made = 0

  const process = (options: Partial<PartitionOptions> = {}, hook: StoreHook = () => {}): Process => {
    made += 1
    let held: Promise<void> | undefined
    let release = () => {}
    /** Holds a call, even one that starts to wait only later. */
    const gate = async () => {
      while (held !== undefined) await held
    }
    const gated =
      <Input, Output>(call: (input: Input, options?: CallOptions) => Promise<Output>) =>
      async (input: Input, given?: CallOptions): Promise<Output> => {
        await gate()
        try {
          return await call(input, given)
        } finally {
          await gate()
        }
      }
    const { create, get, stop, list } = service
    const deployments = { create: gated(create), get: gated(get), stop: gated(stop), list: gated(list) }
    const random = seededRandom(made)
    const store = openMemoryStore(partition, clock, async (method, moment) => {
      await gate()
      await hook(method, moment)
      await gate()
    })
    const owner = `process-${made}`
    let ids = 0
    const member = createPartition(
      { name: 'eu', queues: [duel], deployments, listLagMs: 1000, clock, random, ...given, ...options },
      {
        openStore: () => (isFenced ? store : withoutFences(store, latest)),
        owner,
        newId: () => `${owner}-${(ids += 1)}`,
      },
    )
    member.on('problem', ({ error }) => problems.push(error))
    return {
      ...member,
      pause: () => {
        held ??= new Promise((resolve) => {
          release = resolve
        })
      },
      resume: () => {
        held = undefined
        release()
      },
    }
  }
  /** Starts a process that loses a share of the store's replies: the step is done, but its caller does not know. */
  const beginLossy = (random: Random, lossy: { readonly share: number }): Process => {
    const one = process({ standby: random() < 0.8 }, (method, moment) => {
      if (method === 'inbox' || method === 'changes' || random() >= lossy.share) return
      throw new Error(`the fixture lost the answer to ${method} (${moment} its effect)`)
    })
    one.start()
    return one
  }
  /** Advances the clock in steps, and runs everything that each step triggers. */
  const pass = async (ms: number, stepMs = 10): Promise<void> => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await clock.advance(stepMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const player = (id: string) => ({ id, ip: '192.0.2.1' })
  return { clock, partition, service, problems, process, beginLossy, pass, player }
}

/** Creates two processes. The first one leads, and tests call the second one. */
export async function createPair(
  given: Partial<PartitionOptions> = {},
  before: (world: ReturnType<typeof createWorld>) => void = () => {},
) {
  const world = createWorld(given)
  before(world)
  const [first, second] = [world.process(), world.process()]
  first.start()
  await world.pass(100)
  second.start()
  await world.pass(300)
  /** Advances the clock until a call is answered, and returns the answer. */
  const answer = <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  const create = (player: string, id?: string) =>
    answer(second.createTicket({ ...(id !== undefined && { id }), queue: 'duel', players: [world.player(player)] }))
  const ticket = async (id: string) => (await answer(second.getTicket(id))) as Ticket
  return {
    ...world,
    first,
    second,
    answer,
    join: (...ids: string[]) => Promise.all(ids.map((id) => create(id, id))),
    /** Creates another ticket of the same player. */
    again: (player: string) => create(player),
    ticket,
    status: async (id: string) => (await ticket(id)).status,
    /** Pauses the first process, so that the second one leads from now on. */
    takeOver: async () => {
      first.pause()
      await world.pass(3000)
      expect(second.leads()).toBe(true)
    },
    close: async () => {
      first.resume()
      await answer(Promise.all([first.close(), second.close()]))
    },
  }
}
