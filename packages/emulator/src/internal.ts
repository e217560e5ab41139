/** What the other packages of this repository use of @muster/emulator. No promise: it changes without notice. */
export { defaultGameServerSettings, simulatedGameServers } from './deployments/simulated-game-servers.js'
