import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { Server } from '../records/index.js'
import { credentialOf } from '../records/tags.js'
import { GameServers } from './game-servers.js'
import { RegistrationBody } from '../records/server-reports.js'

test('the id of a server is the audience of its join tokens, even for a further placement attempt', () => {
  const ignore = () => {}
  const servers = new GameServers({
    clock: createManualClock(),
    joinAlgorithm: 'HS256',
    joinKeyOf: () => new Uint8Array(32),
    on: {
      rosterOf: () => undefined,
      accepted: ignore,
      loads: ignore,
      refused: ignore,
      came: ignore,
      left: ignore,
      over: ignore,
      seatsWanted: () => true,
      heard: ignore,
      knockOf: () => undefined,
      listed: ignore,
      seatsOn: () => ({}),
      listingOf: () => undefined,
      placeOf: () => undefined,
      isOccupied: () => false,
      registered: ignore,
      draining: ignore,
      lost: ignore,
      returned: ignore,
      spent: ignore,
      problem: ignore,
    },
  })
  const tag = 'mm-match-abc-2'
  const second = new Server({ serverId: 'abc', queue: 'duel', tag, at: 0 }, undefined)
  const { id } = servers.register(second, RegistrationBody.parse({ instance: 'one' }))
  expect(id).toBe(credentialOf(tag))
  expect(id).not.toBe('abc')
})
