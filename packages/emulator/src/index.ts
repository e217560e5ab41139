/** The exports of `@muster/emulator`: the whole service on this machine, from the same description as the client. */
export { createEmulator, type Emulator, type EmulatorState } from './emulator.js'
export type { EmulatorOptions, ImageReference, RegistryImage } from './options.js'
export type { Fault, FaultCount, Faults } from './faults.js'
export type { Counters } from './counters.js'
export type { Listening, ListenOptions } from './http/server.js'
export { ConnectionDropped } from './reply.js'
export { beacons, places, type Place, type PlaceBeacon } from './places.js'
export type { DeploymentFault, DeployTimes } from './deployments/lifecycle.js'
export {
  type Container,
  type ContainerPort,
  type ContainerSpec,
  type Launch,
  launchProcess,
  type LaunchProcessOptions,
} from './deployments/launch-process.js'
export type { WebhookFault } from './deployments/webhooks.js'
export type { PacketFault } from './relays/bad-network.js'
export type { RelayFault, RelaySummary } from './relays/relays.js'
