import { createHash } from 'node:crypto'
import type { Random } from '@muster/core/clock'
import { createCounters } from './counters.js'
import { createDeployments } from './deployments/create-deployments.js'
import { createNamed, type Named } from './named.js'
import type { ApplicationRecord, FleetRecord, ImageRecord, StorageRecord } from './records.js'
import { createUdpRelay } from './relay-data/udp-relay.js'
import { createRelays } from './relays/create-relays.js'
import type { ResolvedOptions } from './resolve-options.js'
import { createTimers } from './timers.js'
import type { World } from './world.js'

/** Sequences of their own, so that what happens to packets does not change what else happens. */
export interface Chance {
  readonly random: Random
  /** For packets on which a fault has been declared. */
  readonly packetRandom: Random
}

/**
 * The state of a new service: empty, but for the images in its registry.
 * @param url where it can be reached; asked anew each time, because that is known only once it listens.
 */
export function buildWorld(options: ResolvedOptions, { random, packetRandom }: Chance, url: () => string): World {
  const { clock, speed } = options
  const registry = registryOf(options)
  const counters = createCounters()
  const ground = {
    clock,
    random,
    timers: createTimers(clock, speed),
    speed,
    settings: options.settings,
    url,
    counters,
    pageSizes: options.pageSizes,
    applications: createNamed<ApplicationRecord>(),
    storages: createNamed<StorageRecord>(),
    fleets: createNamed<FleetRecord>(),
    registry,
    canPull: (image) =>
      image.docker_repository === options.registryHost
        ? (registry.get(image.docker_image)?.tags.has(image.docker_tag) ?? false)
        : options.canPull(image),
    capacity: options.capacity,
    deployTimes: options.deployTimes,
    deploymentSettings: options.deployments,
    relaySettings: options.relays,
    relayData:
      options.relayData && createUdpRelay(options.relayData, { clock, random: packetRandom, speed, counters: counters.packets }),
    locate: options.locate,
    fetch: options.fetch,
    launch: options.launch,
  } satisfies Omit<World, 'deployments' | 'relays'>
  return { ...ground, deployments: createDeployments(ground), relays: createRelays(ground) }
}

function registryOf({ clock, images }: ResolvedOptions): Named<ImageRecord> {
  const registry = createNamed<ImageRecord>()
  for (const { image: name, tag, hash = digest(`${name}:${tag}`), sizeMb = 250 } of images) {
    const image = registry.get(name) ?? { name, tags: new Map() }
    registry.add(image)
    image.tags.set(tag, { hash, sizeMb, pushedAt: clock.now() })
  }
  return registry
}

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
