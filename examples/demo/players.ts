import { existsSync, readFileSync } from 'node:fs'

/** A public address, and its location by a geolocation database: IP Geolocation by DB-IP (https://db-ip.com). */
export interface Player {
  /** The IP address in canonical form. About one in eight is IPv6. */
  readonly ip: string
  /** Degrees, positive north of the equator. */
  readonly latitude: number
  /** Degrees, positive east of Greenwich. */
  readonly longitude: number
  readonly city: string
  /** Code of the country (ISO 3166-1 alpha-2). */
  readonly country: string
  readonly continent: string
}

/** The file is beside the sources. Compiled code is one folder deeper, because the compiler copies no data. */
const file = ['../data/players.tsv', '../../data/players.tsv']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))

function toPlayer(line: string): Player {
  const [ip = '', latitude, longitude, city = '', country = '', continent = ''] = line.split('\t')
  return { ip, latitude: Number(latitude), longitude: Number(longitude), city, country, continent }
}

/**
 * Returns all 6,000 players of `examples/data/players.tsv`. They are in random order, so the first N are a fair sample.
 */
export function loadPlayers(): readonly Player[] {
  if (file === undefined) throw new Error('examples/data/players.tsv is missing')
  const lines = readFileSync(file, 'utf8').split('\n')
  const [, ...rows] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return rows.map(toPlayer)
}
