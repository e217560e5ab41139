import type { MatchmakerOptions } from '@muster/matchmaker'
import type { MatchingOptions } from './matching.js'

/** The matchmaker's options, as the configuration states them. */
export function matchmakerOptions(options: MatchingOptions): Omit<MatchmakerOptions, 'journal'> & { name: string } {
  const { config, client, locate, webhookUrl, clock } = options
  const { maxServers, maxStarting, maxCreatesPerMinute, maxMatchesPerPlayer, maxServersPerPlayer } = config.spending
  return {
    ...config.matching,
    name: config.name,
    queues: config.queues,
    deployments: client.deployments,
    locations: client.locations,
    locate,
    webhookUrl,
    apiUrl: config.listen.publicUrl,
    maxServers,
    maxStarting,
    maxCreatesPerMinute,
    maxMatchesPerPlayer,
    maxServersPerPlayer,
    clock,
  }
}
