import { createClient } from '@muster/core'
import { createLobbies, createRelaySessions, type ListLobbies } from '@muster/relay'
import { atMost, median, type Figures } from '../figure.js'

const LOBBIES = 30_000
const CALLS = 300
const WARM_UP = 100

/**
 * Measures the worst cases of listing public lobbies. In one, many lobbies match either of two filters but none matches
 * both. In the other, all lobbies are full.
 */
export async function listingFigures(): Promise<Figures> {
  // No lobby is started, so the address is never called.
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 'nobody' })
  const relay = createRelaySessions({ client: client.relays })
  const lobbies = createLobbies({ relay, reapMs: null })
  for (let number = 0; number < LOBBIES; number += 1) {
    const data = number % 2 === 0 ? { map: 'ice', mode: `m${number % 50}` } : { map: 'sand', mode: 'ctf' }
    const player = { id: `player-${number}`, ip: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}` }
    await lobbies.create({ player, maxPlayers: number % 3 === 0 ? 1 : 8, data })
  }
  const queries: Readonly<Record<string, ListLobbies>> = {
    'first page': {},
    'page of 100': { limit: 100 },
    'from the middle': { after: String(LOBBIES / 2) },
    'two values that none has together': { data: { map: 'ice', mode: 'ctf' } },
    'more free slots than any has': { minFree: 64 },
    'a value that none has': { data: { map: 'none' } },
  }
  const measured: Record<string, number> = {}
  for (const [name, query] of Object.entries(queries)) measured[name] = await millisecondsOf(() => lobbies.list(query))
  await lobbies.close({ keepLobbies: true })
  await relay.close()
  await client.close()
  const name = `lobbies: a list of ${LOBBIES.toLocaleString('en-US')} lobbies, at its worst`
  return {
    figures: [atMost(name, Math.max(...Object.values(measured)), 0.2, 'ms')],
    peers: { 'lists, in ms': measured },
  }
}

/** Returns the median of many calls, made one after another. */
async function millisecondsOf(call: () => Promise<unknown>): Promise<number> {
  for (let turn = 0; turn < WARM_UP; turn += 1) await call()
  const taken: number[] = []
  for (let turn = 0; turn < CALLS; turn += 1) {
    const since = performance.now()
    await call()
    taken.push(performance.now() - since)
  }
  return Number(median(taken).toPrecision(3))
}
