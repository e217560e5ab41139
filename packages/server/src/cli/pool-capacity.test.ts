import { expect, test } from 'vitest'
import { readConfigText } from '../config/index.js'
import { capacityOf, capacitySentences } from './pool-capacity.js'

/** Returns the output about the pools of a file. */
async function said(pool: string, more = '') {
  const text = `
service: { url: https://service.example, token: { env: TOKEN } }
queues: [{ name: duel, matchSize: 2, pool: arena }]
pools:
  - name: arena
    places: [{ name: Oslo, latitude: 59.9, longitude: 10.7 }]
    ${pool}
${more}`
  const { config } = await readConfigText(text, { path: '/nowhere/muster.yaml', outside: false })
  return config.pools.map((one) => capacitySentences(capacityOf(one, config)))[0]
}

const DEPLOY = "deploy: { application: game, version: '1' }"
const ENROL =
  'enrol: [{ key: { env: A }, place: Oslo, max: 6, matches: 4 }, { key: { env: B }, place: Oslo, max: 2, matches: 1 }]'
const metal = (more = '') => `sources: { metal: { allocator: 'https://x', secret: { env: S }${more} } }`
const MOST = 'spending: { maxServers: 40 }\n'
const BY_SPENDING = 'At once, 40 servers at most are created, by spending.maxServers, which all pools share.'

test.each([
  [
    'with the deployment service',
    DEPLOY,
    MOST,
    [BY_SPENDING, 'The capacity of the deployment service is unknown here.'],
  ],
  [
    'with an allocator without a stated capacity',
    `source: metal\n    ${DEPLOY}`,
    MOST + metal(),
    [
      BY_SPENDING,
      'The capacity of the source metal is unknown here: it may have fewer. Say it in capacity, if the hoster does.',
    ],
  ],
  [
    'with an allocator of smaller capacity',
    `source: metal\n    ${DEPLOY}`,
    MOST + metal(', capacity: 30'),
    ['At once, 30 servers at most are created, which is what the source metal has.'],
  ],
  [
    'with an allocator of larger capacity',
    `source: metal\n    ${DEPLOY}`,
    MOST + metal(', capacity: 1000'),
    [BY_SPENDING],
  ],
  [
    'with local processes and no spending bound',
    `source: local\n    ${DEPLOY}`,
    'spending: { maxServers: unlimited }\nsources: { local: { launch: { command: [game], max: 12 } } }',
    ['At once, 12 servers at most are created, which is what the source local has.'],
  ],
  ['with enrolled machines alone', ENROL, '', ['At once, 8 of your own servers at most have room for 26 matches.']],
  [
    'with enrolled machines and the deployment service, without a spending bound',
    `${ENROL}\n    ${DEPLOY}`,
    'spending: { maxServers: unlimited }\n',
    [
      'At once, 8 of your own servers at most have room for 26 matches.',
      'Servers are created without a bound: spending.maxServers is unlimited.',
      'The capacity of the deployment service is unknown here.',
    ],
  ],
])('muster check describes the capacity of a pool: %s', async (_, pool, more, sentences) => {
  expect(await said(pool, more)).toEqual(sentences)
})
