import { expect, test } from 'vitest'
import { ruleSchema } from '../queues/rules/validate-rule.js'
import type { FoundTicket } from '@muster/hosting/internal'
import { inCommon } from './match-order.js'

const ticket = (id: string, attributes: NonNullable<FoundTicket['players'][number]['attributes']>): FoundTicket => ({
  id,
  createdAt: 0,
  players: [{ id: `${id}-1`, attributes }],
})
const rules = [
  { kind: 'equal', attribute: 'map' },
  { kind: 'equal', attribute: 'region' },
  { kind: 'overlap', attribute: 'modes' },
].map((rule) => ruleSchema.parse(rule))

test('`inCommon` of a match has the values that all players share, except those allowed to differ', () => {
  const tickets = [
    ticket('a', { map: 'dust', region: 'eu', modes: ['ctf', 'koth', 'tdm'] }),
    ticket('b', { map: 'dust', region: 'us', modes: ['tdm', 'ctf'] }),
  ]
  expect(inCommon(rules, tickets)).toEqual({ equality: { map: 'dust' }, intersection: { modes: ['ctf', 'tdm'] } })
})

test('`inCommon` of a match is empty without a rule that requires shared values', () => {
  expect(inCommon([], [ticket('a', { map: 'dust' })])).toEqual({ equality: {}, intersection: {} })
})
