import { createHash } from 'node:crypto'
import type { Settings } from '@muster/core/api'
import type { Random } from '@muster/core/clock'
import { type Beacons, createBeacons } from './beacons.js'
import { type Counters, createCounters } from './counters.js'
import {
  createDeployments,
  createWebhooks,
  type Deployments,
  type Locate,
  simulatedGameServers,
} from './deployments/index.js'
import type { ImageReference, ResolvedOptions } from './options.js'
import {
  type ApplicationRecord,
  createNamed,
  type FleetRecord,
  type ImageRecord,
  type NamedRecords,
  type StorageRecord,
} from './records.js'
import { OBSERVED_PREFIX, observedWebhook } from './observed/index.js'
import { createRelays, type Relays, createUdpRelay } from './relays/index.js'
import type { DeploymentSettings, RelaySettings, PageSizes } from './settings.js'
import { createTimers, type Surroundings } from './timers.js'

/** The state of one emulated service, shared by the handlers and the page. */
export interface World extends Pick<Surroundings, 'clock' | 'speed'> {
  /** The emulated service: `specification` or `observed`. */
  readonly as: ResolvedOptions['as']
  readonly settings: Settings
  /** Returns the URL of the emulator without a trailing slash. The URL is known only once the emulator listens. */
  readonly url: () => string
  readonly counters: Counters
  readonly pageSizes: PageSizes

  readonly applications: NamedRecords<ApplicationRecord>
  readonly storages: NamedRecords<StorageRecord>
  readonly fleets: NamedRecords<FleetRecord>
  readonly registry: NamedRecords<ImageRecord>
  /**
   * Returns true if an image can be pulled. An image of the service's own registry must exist there. The option
   * `canPull` decides about any other image.
   */
  readonly canPull: (image: ImageReference) => boolean
  readonly deployments: Deployments
  readonly relays: Relays
  readonly beacons: Pick<Beacons, 'list'>

  /** Maximum number of deployments at one location at a time. */
  readonly capacity: (placeId: string) => number
  readonly deploymentSettings: Pick<DeploymentSettings, 'listLagMs' | 'rejectRepeatedFilters'>
  readonly relaySettings: Pick<RelaySettings, 'revokeAnswers'>
  /** Returns the location of an IP address; undefined to simulate a location from the address. */
  readonly locate: Locate | undefined
}

/** Random sources, one for each purpose, so that faults of packets do not change other random choices. */
interface Chance {
  readonly random: Random
  /** The source for packets with a declared fault. */
  readonly packetRandom: Random
  /** The source for the behaviour of simulated game servers. */
  readonly gameRandom: Random
}

/**
 * Creates the state of a new service, which is empty except for the images in its registry. Its `close` ends
 * deployments and pending work.
 * @param url returns the emulator's address, which is known only once the emulator listens.
 */
export function buildWorld(
  options: ResolvedOptions,
  { random, packetRandom, gameRandom }: Chance,
  { url, isListening }: { readonly url: () => string; readonly isListening: () => boolean },
): { readonly world: World; close(): Promise<void> } {
  const { clock, speed, capacity, locate } = options
  const timers = createTimers(clock, speed)
  const counters = createCounters()
  const fleets = createNamed<FleetRecord>()
  const registry = registryOf(options)
  const plain = createWebhooks({ ...options.deployments, fetch: options.fetch, counters: counters.webhooks })
  const webhooks =
    options.as === 'observed'
      ? { ...plain, send: (to: string, body: object) => plain.send(to, observedWebhook(body)) }
      : plain
  const relayData =
    options.relayData &&
    createUdpRelay(options.relayData, { clock, random: packetRandom, speed, counters: counters.packets })
  const shared = { random, timers, webhooks }
  const { deployTimes, deployments: settings, gameServers, fetch } = options
  const launch =
    options.launch ?? (gameServers && simulatedGameServers(gameServers, { clock, random: gameRandom, speed, fetch }))
  const prefix = options.as === 'observed' ? OBSERVED_PREFIX : undefined
  const own = { clock, speed, url, prefix, fleets, capacity, deployTimes, settings, launch }
  const deployments = createDeployments({ ...shared, ...own })
  const relays = createRelays({ ...shared, settings: options.relays, relayData, locate })
  const beacons = createBeacons({ clock, settings: options.beacons, isListening })

  const world: World = {
    as: options.as,
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

function registryOf({ clock, images }: ResolvedOptions): NamedRecords<ImageRecord> {
  const registry = createNamed<ImageRecord>()
  for (const { image: name, tag, hash = digest(`${name}:${tag}`), sizeMb = 250 } of images) {
    const image = registry.get(name) ?? { name, tags: new Map() }
    registry.add(image)
    image.tags.set(tag, { hash, sizeMb, pushedAt: clock.now() })
  }
  return registry
}

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
