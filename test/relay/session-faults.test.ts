import type { Fault } from '@muster/emulator'
import type { LobbyView } from '@muster/relay'
import { describe, expect, test } from 'vitest'
import { eventually, openArcade } from './arcade.js'
import { exchange, hostBy, joinBy } from './playing.js'

/** Tests every declared fault of a relay session, from the service to the players' packets. */

const ann = { id: 'ann', ip: '203.0.113.7' }
/** At one address. */
const ben = { id: 'ben', ip: '203.0.113.8' }
const cleo = { id: 'cleo', ip: '203.0.113.8' }
const dora = { id: 'dora', ip: '2001:db8::7' }

/** Starts a lobby of three players on a service whose sessions have this fault. */
async function started(fault: Omit<Fault, 'operation'>) {
  const arcade = await openArcade({
    emulator: { faults: [{ operation: 'relays.create', ...fault }] },
    sessions: { pollMs: 50, readyTimeoutMs: 400 },
  })
  const { call } = arcade
  const { lobbyId, code } = await call<LobbyView>(ann, 'POST', '/lobbies', { maxPlayers: 4, requireReady: false })
  for (const player of [ben, cleo]) await call(player, 'POST', '/lobbies/join', { code })
  await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
  return { ...arcade, lobbyId, code }
}

describe('relay sessions with faults', () => {
  test.each([
    ['never ready', 'not ready in time'],
    ['no tokens', 'without relay or tokens'],
  ] as const)(
    'relay sessions with the fault "%s" are given up, and the lobby can start again',
    async (relay, reason) => {
      const { emulator, lobbies, call, credentialsOf, lobbyId, shut } = await started({ relay })
      const failed = await eventually('the failure', async () => {
        const { messages } = await lobbies.poll({ lobbyId, playerId: 'ben', after: 0, waitMs: 0 })
        return messages.find((message) => message.type === 'run.failed')
      })
      expect(failed).toMatchObject({ term: 1, reason })
      expect(emulator.inspect().relaySessions).toEqual([])
      emulator.faults.clear()
      await call(ann, 'POST', `/lobbies/${lobbyId}/start`)
      expect(await credentialsOf(ann, lobbyId, 2)).toMatchObject({ role: 'host' })
      expect(await shut()).toEqual([])
    },
  )

  test('every player gets a distinct relay token even if the service mixes up the tokens of users', async () => {
    const { call, credentialsOf, lobbyId, code, shut } = await started({ relay: 'token of another' })
    await credentialsOf(ann, lobbyId)
    await call(dora, 'POST', '/lobbies/join', { code })
    const all = await Promise.all([ann, ben, cleo, dora].map((player) => credentialsOf(player, lobbyId)))
    expect(new Set(all.map(({ userToken }) => userToken)).size).toBe(4)
    const [anns, bens, cleos, doras] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0], (typeof all)[0]]
    const peers = [await hostBy(anns, 'ann'), await joinBy(bens), await joinBy(cleos), await joinBy(doras)] as const
    await call(ann, 'DELETE', `/lobbies/${lobbyId}/members/ben`)
    await eventually('the end of his token', () => peers[1].state === 'invalid' || undefined)
    await Promise.all([exchange(peers[2], 'cleo', 'ann'), exchange(peers[3], 'dora', 'ann')])
    for (const peer of peers) peer.close()
    expect(await shut()).toEqual([])
  })

  test.each(['lost', 'early', 'repeated', 'forged', { lateMs: 300 }] as const)(
    'if webhooks are %j, relay sessions open by reading the state of the service',
    async (webhooks) => {
      const { credentialsOf, lobbyId, shut, emulator } = await started({ webhooks })
      const peer = await hostBy(await credentialsOf(ann, lobbyId), 'ann')
      expect(emulator.inspect().relaySessions).toMatchObject([{ users: 3, connected: 1 }])
      peer.close()
      expect(await shut()).toEqual([])
    },
  )
})

describe('relay packets with faults', () => {
  async function playing(packets: NonNullable<Fault['packets']>) {
    const { credentialsOf, lobbyId, shut, emulator } = await started({ packets })
    const host = await hostBy(await credentialsOf(ann, lobbyId), 'ann')
    const client = await joinBy(await credentialsOf(ben, lobbyId))
    const began = performance.now()
    const { order, rounds } = await exchange(client, 'ben', 'ann')
    const tookMs = performance.now() - began
    for (const peer of [host, client]) peer.close()
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number))
    expect(await shut()).toEqual([])
    return { order, rounds, tookMs, lost: emulator.counters.packets.dropped.fault }
  }

  test('lost relay packets arrive when sent again', async () => {
    const { rounds, lost } = await playing({ loss: 0.3 })
    expect(lost).toBeGreaterThan(5)
    expect(rounds).toBeGreaterThan(1)
  })

  test('relay packets with a declared delay are delayed in both directions', async () => {
    const { tookMs, lost } = await playing({ delayMs: 60 })
    expect(tookMs).toBeGreaterThanOrEqual(118) // twice 60, and timers may be a millisecond early
    expect(lost).toBe(0)
  })

  test('relay packets with declared reordering overtake one another', async () => {
    const { order, lost } = await playing({ reorder: 0.5 })
    expect(order).not.toEqual(order.toSorted((a, b) => a - b))
    expect(lost).toBe(0)
  })
})
