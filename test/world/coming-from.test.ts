/** Plays the queues of docs/coming-from.md end to end, by clients that behave like the hosted matchmaker's SDKs. */
import { readFileSync } from 'node:fs'
import type { QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { nothingLeft } from '../matchmaker/studio.js'
import { openCounter } from '../ticket-api/counter.js'
import { type Attributes, createSdkClient } from './sdk-client.js'

const text = readFileSync(new URL('../../docs/coming-from.md', import.meta.url), 'utf8')
const pages = text.split(/^## /m).flatMap((section) => {
  const [, code] = /^```yaml\n(queues:\n[\s\S]*?)^```/m.exec(section) ?? []
  const { queues } = parse(code ?? 'queues: []') as { readonly queues: readonly QueueDefinition[] }
  return queues.map((queue) => ({ page: section.slice(0, section.indexOf('\n')), queue }))
})

/** The statements of the players of one match, by example of the page, and whether their queue reads latencies. */
const matches: Readonly<Record<string, { readonly players: readonly Attributes[]; readonly pings?: boolean }>> = {
  'Edgegap’s matchmaker': { players: [1000, 1010, 1020, 1030].map((elo) => ({ elo, mode: 'rush' })), pings: true },
  'Amazon GameLift FlexMatch': { players: [10, 12, 14, 16, 18, 14].map((skill) => ({ skill })), pings: true },
  'Unity Matchmaker': { players: [100, 200, 300, 400].map((skill) => ({ skill, maps: ['lagoon', 'tower'] })) },
  'PlayFab Matchmaking': { players: [30, 31, 32, 33].map((skill) => ({ skill, build: '1.2' })) },
  Nakama: { players: [9, 6].map((rank) => ({ rank, least_rank: 5, region: 'eu' })) },
  'Open Match': { players: [7, 8, 9, 10].map((level) => ({ level, tags: ['mode.capture'] })) },
}

test('each migration page of the docs has a match that is played in this test', () => {
  expect(pages.map(({ page }) => page.replace("'", '’'))).toEqual(Object.keys(matches))
})

test.concurrent.each(pages)(
  '$page has a queue that clients of the other matchmaker can play',
  async ({ page, queue }) => {
    const { players, pings = false } = matches[page.replace("'", '’')] as (typeof matches)[string]
    const deploy = { application: 'game', version: '1' }
    const { url, matchmaker, shut } = await openCounter({ studio: { matchmaker: { queues: [{ deploy, ...queue }] } } })
    const clients = players.map((attributes, index) => ({
      client: createSdkClient({ url, token: `player-${index}`, address: `192.0.2.${index + 1}` }),
      attributes,
    }))
    const [first] = clients
    await first?.client.monitor()
    const beacons = await first?.client.beacons()
    const measured = pings ? { beacons: { [beacons?.beacons[0]?.location.city ?? '']: 30.5 } } : {}
    const unknown = first?.client.createTicket(queue.name, { ...first.attributes, ...measured, shoe_size: 44 })
    await expect(unknown).rejects.toMatchObject({ status: 400 })

    const assigned = await Promise.all(
      clients.map(async ({ client, attributes }) => {
        const { id } = await client.createTicket(queue.name, { ...attributes, ...measured })
        return client.untilAssigned(id)
      }),
    )
    expect(new Set(assigned.map(({ match_id }) => match_id)).size).toBe(1)
    expect(new Set(assigned.map(({ assignment }) => assignment?.ports['game']?.link)).size).toBe(1)
    await matchmaker.stopMatch(assigned[0]?.match_id ?? '')
    expect(await shut()).toEqual(nothingLeft)
  },
)
