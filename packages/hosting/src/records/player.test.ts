import { expect, test } from 'vitest'
import { networkOf } from './player.js'

test('the network of a ticket is the network of its first known address', () => {
  expect(networkOf([{ id: 'a' }, { id: 'b', ip: '198.51.100.7' }, { id: 'c', ip: '203.0.113.7' }])).toBe(
    '198.51.0.0/16',
  )
  expect(networkOf([{ id: 'a' }])).toBeUndefined()
})
