import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { Server } from '../records/index.js'
import { credentialOf } from '../records/tags.js'
import { createGameServers } from './game-servers.js'
import { RegistrationBody } from './server-reports.js'

test('the id of a server is the audience of its join tokens, also of a further placement attempt', () => {
  const ignore = () => {}
  const servers = createGameServers({
    clock: createManualClock(),
    joinAlgorithm: 'HS256',
    joinKeyOf: () => new Uint8Array(32),
    matchesOn: () => [],
    claimsOn: () => 0,
    on: {
      rosterOf: () => undefined,
      accepted: ignore,
      refused: ignore,
      came: ignore,
      left: ignore,
      over: ignore,
      seatsWanted: () => true,
      heard: ignore,
      knockOf: () => undefined,
      listed: ignore,
      seatsOn: () => ({}),
      isListed: () => false,
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
