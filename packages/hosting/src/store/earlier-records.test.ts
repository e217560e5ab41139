import { describe, expect, test } from 'vitest'
import { type RecordOf3, splitRecordOf3, withRecordsOf3 } from './earlier-records.js'

const assignment = { fqdn: 'a.example.com', publicIp: undefined, ports: {}, location: undefined }
const tries = [{ cachedOnly: false, at: undefined }]
const found: RecordOf3 = {
  matchId: 'm1',
  queue: 'duel',
  tag: 'match-m1-2',
  ticketIds: ['t1', 't2'],
  playerIds: ['ann', 'ben'],
  at: 1,
  assigned: false,
  resumption: { expansionMs: 5, tries, placements: undefined, teams: ['a', 'b'], teamOf: [0, 1] },
}
const pooled: RecordOf3 = { ...found, matchId: 's1', queue: 'arena', ticketIds: [], pool: 'arena', build: 'game/1' }
const match = { matchId: 'm1', queue: 'duel', ticketIds: ['t1', 't2'], playerIds: ['ann', 'ben'], at: 1 }
const ofMatch = { expansionMs: 5, teams: ['a', 'b'], teamOf: [0, 1] }

describe('a record of format version 3', () => {
  test('a record of format version 3 becomes a match record and a record of the server created for the match', () => {
    const { server, match: own } = splitRecordOf3({
      ...found,
      sentAt: 2,
      requestId: 'r1',
      assigned: true,
      lastsMs: 60_000,
      assignment,
      left: [{ playerId: 'cas', at: 3 }],
    })
    expect(own).toEqual({
      ...match,
      serverId: 'm1',
      playingSince: 1,
      left: [{ playerId: 'cas', at: 3 }],
      resumption: ofMatch,
    })
    expect(server).toMatchObject({
      serverId: 'm1',
      bornFor: 'm1',
      tag: 'match-m1-2',
      sentAt: 2,
      requestId: 'r1',
      isUp: true,
      lastsMs: 60_000,
      assignment,
      resumption: { tries },
    })
    for (const gone of ['matchId', 'assigned', 'ticketIds', 'playerIds', 'left'])
      expect(server).not.toHaveProperty(gone)
  })

  test('a record of format version 3 with an unsent create becomes a match and a server with its tag', () => {
    const { server, match: own } = splitRecordOf3(found)
    expect(server).toMatchObject({
      serverId: 'm1',
      bornFor: 'm1',
      tag: 'match-m1-2',
      isUp: false,
      resumption: { tries },
    })
    expect(own).toEqual({ ...match, serverId: 'm1', resumption: ofMatch })
  })

  test('a record of format version 3 becomes only a server if the server was being stopped', () => {
    const { server, match: own } = splitRecordOf3({ ...found, sentAt: 2, requestId: 'r1', dropped: true })
    expect(server).toMatchObject({ serverId: 'm1', bornFor: 'm1', dropped: true })
    expect(own).toBeUndefined()
  })

  test('a record of format version 3 becomes a match that is on, or waits for, a pool server', () => {
    const waiting = { ...found, resumption: { ...ofMatch, tries: [], placements: undefined } }
    expect(splitRecordOf3(waiting)).toEqual({ match: { ...match, resumption: ofMatch } })
    const playing = { ...waiting, hostId: 's1', assigned: true, lastsMs: 60_000, assignment }
    // The start of play is unknown, so the match has no time limit of its own.
    expect(splitRecordOf3(playing)).toEqual({
      match: { ...match, serverId: 's1', playingSince: 1, resumption: ofMatch },
    })
  })

  test('a record of format version 3 of a pool becomes a server of that pool', () => {
    const wanted = { session: 's', name: "ann's", attributes: {} }
    const { server, match: own } = splitRecordOf3({ ...pooled, sentAt: 2, matchesServed: 3, wanted, draining: true })
    expect(server).toMatchObject({
      serverId: 's1',
      pool: 'arena',
      build: 'game/1',
      matchesServed: 3,
      wanted,
      draining: true,
    })
    expect(server).not.toHaveProperty('bornFor')
    expect(own).toBeUndefined()
  })

  test('a record of format version 3 with an enrolment key becomes an enrolled server that exists', () => {
    const enrolled = { key: 'k', name: 'host-1' }
    expect(splitRecordOf3({ ...pooled, source: 'enrolled', enrolled }).server).toMatchObject({ requestId: 's1' })
  })
})

test('a store of version 3 is converted to records of servers and matches, with their latest changes', () => {
  const stored = (key: string, record: RecordOf3, change: Partial<RecordOf3>): [string, object] => [
    key,
    { key, value: JSON.stringify(record), change: JSON.stringify(change) },
  ]
  const records = withRecordsOf3(
    new Map([
      ['server', new Map([stored('m1', found, { sentAt: 2 }), stored('s1', pooled, { requestId: 'r2' })])],
      ['ticket', new Map([['t1', { key: 't1', value: '{}' }]])],
    ]) as never,
  )
  const keysOf = (kind: string) => [...(records.get(kind)?.keys() ?? [])]
  expect([keysOf('server'), keysOf('match'), keysOf('ticket')]).toEqual([['m1', 's1'], ['m1'], ['t1']])
  expect(JSON.parse(records.get('server')?.get('m1')?.value ?? '')).toMatchObject({ sentAt: 2 })
  expect(JSON.parse(records.get('server')?.get('s1')?.value ?? '')).toMatchObject({ requestId: 'r2' })
})
