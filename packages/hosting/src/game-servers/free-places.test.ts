import { expect, test } from 'vitest'
import { HostedMatch, RegisteredServer, Server } from '../records/index.js'
import { RegistrationBody } from '../records/server-reports.js'
import { freePlacesOn } from './game-servers.js'

test('a server takes no match with which its report could name more players than Muster accepts', () => {
  const server = new Server({ serverId: 'abc', queue: 'battle', at: 0 }, undefined)
  server.presence = new RegisteredServer(RegistrationBody.parse({ instance: 'one', matches: 64 }), 0)
  const add = (nth: number) => {
    const playerIds = Array.from({ length: 500 }, (_, player) => `p-${nth}-${player}`)
    const match = new HostedMatch({ matchId: `m-${nth}`, queue: 'battle', at: 0, ticketIds: [], playerIds }, undefined)
    server.guests.add(match)
    return match
  }
  const matches = Array.from({ length: 18 }, (_, nth) => add(nth))
  expect(freePlacesOn(server)).toBe(46)
  add(18)
  expect(freePlacesOn(server)).toBe(0)
  for (const match of matches.slice(0, 2)) match.stopReason = 'over'
  expect(freePlacesOn(server)).toBe(47)
})
