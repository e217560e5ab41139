import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  answerOf,
  connectionIdOf,
  DATA,
  dataPacket,
  forClient,
  forHost,
  kindOf,
  MAX_DATAGRAM,
  MAX_PAYLOAD,
  PING,
  pingPacket,
  readRelayed,
  relayState,
  sessionTokenKey,
  tokenKey,
  userTokenKey,
  type Side,
} from './packet.js'

const token = fc.integer({ min: 0, max: 0xffff_ffff })
const payload = fc.uint8Array({ maxLength: MAX_PAYLOAD })
const side = fc.constantFrom<Side>('server', 'client')
const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('the documented bytes of packets', () => {
  test('relay packets from peer to relay have the documented bytes', () => {
    expect(pingPacket(3_500_589_645, 1)).toEqual(bytes('4dc2a6d0 01000000 01'))
    expect(dataPacket(3_500_589_645, 1, bytes('aabb'))).toEqual(bytes('4dc2a6d0 01000000 02 aabb'))
    expect(dataPacket(3_500_589_645, 1, bytes('aabb'), 258)).toEqual(bytes('4dc2a6d0 01000000 02 02010000 aabb'))
  })

  test('relay packets from relay to peer have the documented bytes', () => {
    expect(answerOf(relayState.timedOut)).toEqual(bytes('01 04'))
    const fromClient = dataPacket(1, 2, bytes('aabb'))
    expect(fromClient.subarray(forHost(fromClient, 258))).toEqual(bytes('02 02010000 aabb'))
    const fromHost = dataPacket(1, 2, bytes('aabb'), 258)
    expect(fromHost.subarray(forClient(fromHost))).toEqual(bytes('02 aabb'))
  })
})

test('the relay reads the packets that peers write', () => {
  fc.assert(
    fc.property(token, token, payload, token, (user, session, content, connection) => {
      const packets = [
        { datagram: pingPacket(user, session), at: 'client', kind: PING },
        { datagram: pingPacket(user, session), at: 'server', kind: PING },
        { datagram: dataPacket(user, session, content), at: 'client', kind: DATA },
        { datagram: dataPacket(user, session, content, connection), at: 'server', kind: DATA },
      ] as const
      for (const { datagram, at, kind } of packets) {
        expect(kindOf(datagram, at)).toBe(kind)
        expect([userTokenKey(datagram), sessionTokenKey(datagram)]).toEqual([tokenKey(user), tokenKey(session)])
        expect(datagram.length).toBeLessThanOrEqual(MAX_DATAGRAM)
      }
      expect(connectionIdOf(packets[3].datagram)).toBe(connection)
    }),
    { numRuns: 50 },
  )
})

test('different relay tokens have different keys', () => {
  fc.assert(fc.property(token, token, (a, b) => (tokenKey(a) === tokenKey(b)) === (a === b)))
  expect(tokenKey(0xffff_ffff)).not.toBe(tokenKey(0x7fff_ffff))
})

test('peers read the packets that the relay has rewritten', () => {
  fc.assert(
    fc.property(token, token, payload, token, (user, session, content, connectionId) => {
      const fromClient = dataPacket(user, session, content)
      const atHost = fromClient.subarray(forHost(fromClient, connectionId))
      expect(readRelayed(atHost, 'server')).toEqual({ kind: 'data', connectionId, payload: Buffer.from(content) })

      const fromHost = dataPacket(user, session, content, connectionId)
      const atClient = fromHost.subarray(forClient(fromHost))
      expect(readRelayed(atClient, 'client')).toEqual({ kind: 'data', connectionId: 0, payload: Buffer.from(content) })
    }),
    { numRuns: 50 },
  )
  for (const state of Object.values(relayState)) {
    for (const at of ['server', 'client'] as const)
      expect(readRelayed(answerOf(state), at)).toEqual({ kind: 'state', state })
  }
})

describe('a datagram that is not a packet', () => {
  const never = fc.uint8Array({ maxLength: MAX_DATAGRAM + 50 }).map((content) => Buffer.from(content))

  test('a datagram of wrong length or kind is not a relay packet', () => {
    fc.assert(
      fc.property(never, side, (datagram, at) => {
        const kind = kindOf(datagram, at)
        const fits = datagram.length <= MAX_DATAGRAM && datagram.length >= (at === 'server' ? 13 : 9)
        if (kind === PING) expect([datagram.length, datagram[8]]).toEqual([9, 1])
        else if (kind === DATA) expect([fits, datagram[8]]).toEqual([true, 2])
        else expect(fits && datagram[8] === 2).toBe(false)
      }),
    )
  })

  test.each([
    ['empty', '', 'client'],
    ['one byte shorter than a ping', '01000000 02000000', 'client'],
    ['one byte longer than a ping', '01000000 02000000 01 00', 'client'],
    ['an unknown kind', '01000000 02000000 03', 'client'],
    ['kind 0', '01000000 02000000 00', 'server'],
    ["a host's data without its connection id", '01000000 02000000 02 000000', 'server'],
  ] as const)('a datagram has no known kind: %s', (_what, hex, at) => {
    expect([PING, DATA]).not.toContain(kindOf(bytes(hex), at))
  })

  test('a datagram one byte longer than the longest is not a relay packet', () => {
    const longest = Buffer.alloc(MAX_DATAGRAM)
    longest[8] = DATA
    const longer = Buffer.alloc(MAX_DATAGRAM + 1)
    longer[8] = DATA
    expect(kindOf(longest, 'server')).toBe(DATA)
    expect(kindOf(longer, 'server')).not.toBe(DATA)
    expect(dataPacket(1, 2, Buffer.alloc(MAX_PAYLOAD), 1)).toHaveLength(MAX_DATAGRAM)
  })

  test('relay peers read any datagram without an error, and accept only known states', () => {
    fc.assert(
      fc.property(never, side, (datagram, at) => {
        const read = readRelayed(datagram, at)
        if (read?.kind === 'state') expect(datagram).toEqual(answerOf(read.state))
        if (read?.kind === 'data') expect(read.payload.length).toBe(datagram.length - (at === 'server' ? 5 : 1))
      }),
    )
    for (const hex of ['', '01', '0100', '0106', '01ff', '010200', '03', '00'])
      expect(readRelayed(bytes(hex), 'client'), hex).toBeUndefined()
    for (const hex of ['02', '02010000']) expect(readRelayed(bytes(hex), 'server'), hex).toBeUndefined()
  })
})
