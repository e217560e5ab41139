/** Exports for the other packages of this repository. They may change without notice. */
export { defaultGameServerSettings, simulatedGameServers } from './deployments/simulated-game-servers.js'
