/** Where players are: the place of an address, and the round trips that are believed or estimated. */
export { distancesFrom, estimatedMs, type Latencies, MOST_LATENCIES, readLatencies } from './believed-latencies.js'
export { type Locate, type Located, placeOf } from './mmdb-locate.js'
