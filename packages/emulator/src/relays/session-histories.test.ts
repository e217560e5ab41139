import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Endpoint, STALE_MS } from './session-traffic.js'
import { dataPacket, pingPacket, relayState, type RelayState, type Side } from './packet.js'
import { sessionToken, trafficOf, type Sent } from './traffic.fixture.js'

/** Properties that hold for any packets, in any order, with any authorizations and revocations between them. */

const user = fc.constantFrom(1, 2, 3, 0xffff_fff0)
const session = fc.constantFrom(sessionToken, sessionToken, sessionToken, 5)
const from = fc.record({ address: fc.constantFrom('198.51.100.1', '203.0.113.2'), port: fc.constantFrom(1000, 1001) })
const side = fc.constantFrom<Side>('server', 'client', 'client')
const kind = <Kind extends string>(name: Kind) => fc.constant(name)

const step = fc.oneof(
  { weight: 7, arbitrary: fc.record({ kind: kind('ping'), user, session, side, from }) },
  {
    weight: 7,
    arbitrary: fc.record({ kind: kind('data'), user, session, side, from, to: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('junk'), side, from, bytes: fc.uint8Array({ maxLength: 1300 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('pass'), ms: fc.constantFrom(1, 400, 1500, 2000, 5000, 10_000) }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('authorize'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('revoke'), user }) },
)

/** A received datagram and its effects. */
interface Happened {
  readonly at: number
  readonly side: Side
  readonly from: Endpoint
  readonly bytes: number
  /** The sender's stay in the session: a number that changes with each authorization. Undefined for an outsider. */
  readonly stay: number | undefined
  readonly sent: readonly Sent[]
}

const history = fc
  .record({ steps: fc.array(step, { maxLength: 200, size: 'max' }), authDelayMs: fc.constantFrom(0, 1500) })
  .map(({ steps, authDelayMs }) => {
    const { traffic, receive, pass, counters, connected } = trafficOf({ authDelayMs })
    const stays = new Map<number, number>()
    const happened: Happened[] = []
    const crowds: { readonly connected: number; readonly inside: number }[] = []
    let now = 0
    let nextStay = 1

    const comeIn = (at: Side, datagram: Buffer, source: Endpoint, stay: number | undefined) => {
      const bytes = datagram.length
      happened.push({ at: now, side: at, from: source, bytes, stay, sent: receive(at, datagram, source) })
    }

    for (const entry of steps) {
      if (entry.kind === 'pass') {
        now += entry.ms
        pass(entry.ms)
      } else if (entry.kind === 'authorize') {
        // No two users have the same token at the same time.
        if (!stays.has(entry.user)) {
          stays.set(entry.user, nextStay++)
          traffic.authorize({ token: entry.user, ip: '198.51.100.1' })
        }
      } else if (entry.kind === 'revoke') {
        stays.delete(entry.user)
        traffic.revoke(entry.user)
      } else if (entry.kind === 'junk') {
        comeIn(entry.side, Buffer.from(entry.bytes), entry.from, undefined)
      } else {
        const stay = entry.session === sessionToken ? stays.get(entry.user) : undefined
        const target = entry.kind === 'data' && entry.side === 'server' ? entry.to : undefined
        const datagram =
          entry.kind === 'ping'
            ? pingPacket(entry.user, entry.session)
            : dataPacket(entry.user, entry.session, Buffer.from('payload'), target)
        comeIn(entry.side, datagram, entry.from, stay)
      }
      crowds.push({ connected: connected(), inside: stays.size })
    }
    return { happened, counters, crowds }
  })

type Past = typeof history extends fc.Arbitrary<infer Value> ? Value : never
const always = (check: (past: Past) => void) => fc.assert(fc.property(history, check), { numRuns: 50 })

const stateIn = (sent: readonly Sent[]) => (sent[0]?.packet?.kind === 'state' ? sent[0].packet.state : undefined)
const isLetIn = (state: RelayState | undefined) =>
  state !== undefined && state !== relayState.invalid && state !== relayState.error
const dataIn = (sent: readonly Sent[]) => (sent[0]?.packet?.kind === 'data' ? sent[0].packet : undefined)

test('a datagram causes at most one shorter answer, and strangers get only the state invalid', () => {
  always(({ happened }) => {
    for (const { sent, bytes, stay } of happened) {
      expect(sent.length).toBeLessThanOrEqual(1)
      for (const out of sent) expect(out.bytes).toBeLessThan(bytes)
      if (stay === undefined) expect([undefined, relayState.invalid]).toContain(stateIn(sent))
      if (stay === undefined) expect(dataIn(sent)).toBeUndefined()
      else expect(stateIn(sent)).not.toBe(relayState.invalid)
    }
  })
})

test('relay answers go to their sender, and data only between admitted peers', () => {
  always(({ happened }) => {
    const letIn = new Set<string>()
    const name = (at: Side, { address, port }: Endpoint) => `${at} ${address} ${port}`
    for (const { side: at, from: source, sent } of happened) {
      const [out] = sent
      if (stateIn(sent) !== undefined) expect([out?.side, out?.to]).toEqual([at, source])
      if (isLetIn(stateIn(sent))) letIn.add(name(at, source))
      if (dataIn(sent) !== undefined && out !== undefined) {
        expect(out.side).toBe(at === 'server' ? 'client' : 'server')
        expect(letIn).toContain(name(out.side, out.to))
        expect(letIn).toContain(name(at, source))
      }
    }
  })
})

test('relay connection ids are unique, and payloads arrive unchanged', () => {
  always(({ happened }) => {
    const stayOf = new Map<number, number | undefined>()
    for (const { side: at, stay, sent } of happened) {
      const packet = dataIn(sent)
      if (packet === undefined) continue
      expect(packet.payload.toString()).toBe('payload')
      if (at === 'server') continue
      expect(packet.connectionId).toBeGreaterThan(0)
      expect(stayOf.get(packet.connectionId) ?? stay).toBe(stay)
      stayOf.set(packet.connectionId, stay)
    }
  })
})

test('a relay session never has a second host while the first is alive', () => {
  always(({ happened }) => {
    let host: Happened | undefined
    for (const [index, event] of happened.entries()) {
      if (event.side !== 'server' || stateIn(event.sent) !== relayState.valid) continue
      const before = host
      host = event
      if (before === undefined || before.stay === event.stay || event.at - before.at >= STALE_MS) continue
      // The previous host was revoked in the meantime, so nothing is sent in response to its datagrams any more.
      const later = happened.slice(index).filter(({ stay, sent }) => stay === before.stay && sent.length > 0)
      expect(later).toEqual([])
    }
  })
})

test('every relay datagram is counted once, and only authorized users are connected', () => {
  always(({ happened, counters, crowds }) => {
    const { received, answered, relayed, relayedBytes, dropped } = counters
    const refusals = happened.filter(({ sent }) => stateIn(sent) === relayState.invalid).length
    const ended = Object.values(dropped).reduce((sum, count) => sum + count, 0)
    expect(received).toBe(happened.length)
    expect(answered - refusals + relayed + ended).toBe(received)
    expect(relayedBytes).toBe(relayed * 'payload'.length)
    for (const { connected, inside } of crowds) expect(connected).toBeLessThanOrEqual(inside)
  })
})
