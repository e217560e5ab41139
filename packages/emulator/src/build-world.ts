import { createHash } from 'node:crypto'
import type { Random } from '@muster/core/clock'
import { createBeacons } from './beacons/create-beacons.js'
import { createCounters } from './counters.js'
import { createDeployments } from './deployments/create-deployments.js'
import { createWebhooks } from './deployments/webhooks.js'
import { createNamed, type Named } from './named.js'
import type { ApplicationRecord, FleetRecord, ImageRecord, StorageRecord } from './records.js'
import { createUdpRelay } from './relay-data/udp-relay.js'
import { createRelays } from './relays/create-relays.js'
import type { ResolvedOptions } from './resolve-options.js'
import { createTimers } from './timers.js'
import type { World } from './world.js'

/** Random sources, one per purpose, so that faults of packets do not change any other random choice. */
export interface Chance {
  readonly random: Random
  /** The source for packets on which a fault has been declared. */
  readonly packetRandom: Random
}

export interface BuiltWorld {
  readonly world: World
  /** Ends deployments and pending work. */
  close(): Promise<void>
}

/** The emulator's address: a function, because the address is known only once the emulator listens. */
export interface Whereabouts {
  /** The URL at which the emulator can be reached. */
  readonly url: () => string
  readonly isListening: () => boolean
}

/** Creates the state of a new service: empty except for the images in its registry. */
export function buildWorld(
  options: ResolvedOptions,
  { random, packetRandom }: Chance,
  { url, isListening }: Whereabouts,
): BuiltWorld {
  const { clock, speed, capacity, locate } = options
  const timers = createTimers(clock, speed)
  const counters = createCounters()
  const fleets = createNamed<FleetRecord>()
  const registry = registryOf(options)
  const webhooks = createWebhooks({ ...options.deployments, fetch: options.fetch, counters: counters.webhooks })
  const relayData =
    options.relayData &&
    createUdpRelay(options.relayData, { clock, random: packetRandom, speed, counters: counters.packets })
  const shared = { random, timers, webhooks }
  const { deployTimes, deployments: settings, launch } = options
  const deployments = createDeployments({
    ...shared,
    clock,
    speed,
    url,
    fleets,
    capacity,
    deployTimes,
    settings,
    launch,
  })
  const relays = createRelays({ ...shared, settings: options.relays, relayData, locate })
  const beacons = createBeacons({ clock, settings: options.beacons, isListening })

  const world: World = {
    clock,
    speed,
    settings: options.settings,
    url,
    counters,
    pageSizes: options.pageSizes,
    applications: createNamed<ApplicationRecord>(),
    storages: createNamed<StorageRecord>(),
    fleets,
    registry,
    canPull: (image) =>
      image.docker_repository === options.registryHost
        ? (registry.get(image.docker_image)?.tags.has(image.docker_tag) ?? false)
        : options.canPull(image),
    deployments,
    relays,
    beacons,
    capacity,
    deploymentSettings: settings,
    relaySettings: options.relays,
    locate,
  }
  const close = async () => {
    timers.close()
    webhooks.close()
    await Promise.all([deployments.close(), relays.close(), beacons.close()])
  }
  return { world, close }
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
