import { InvalidInput } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRequest, type MemberRequest } from './command.js'

test('the player id of a heartbeat is any string of 1 to 128 characters', () => {
  const id = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.integer({ min: 120, max: 136 }).map((length) => 'x'.repeat(length)),
    fc.anything(),
  )
  fc.assert(
    fc.property(id, (playerId) => {
      const command = { kind: 'heartbeat', playerId } as MemberRequest
      // Heartbeats have a fast path. Other commands with the same fields always go through the schema.
      const bySchema = () => checkRequest({ kind: 'leave', playerId } as MemberRequest)
      const isTaken = typeof playerId === 'string' && playerId.length >= 1 && playerId.length <= 128
      if (isTaken) {
        expect(checkRequest(command)).toEqual(command)
        expect(bySchema()).toEqual({ kind: 'leave', playerId })
        return
      }
      expect(() => checkRequest(command)).toThrow(InvalidInput)
      expect(bySchema).toThrow(InvalidInput)
    }),
  )
})
