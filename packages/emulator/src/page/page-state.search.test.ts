import { expect, test } from 'vitest'
import { searchFor } from './page-state.js'

const deployment = {
  request_id: 'a1b2c3',
  status: 'ERROR',
  application: 'arena',
  version: '1.0',
  location: 'São Paulo',
  error: 'the container could not be started',
  tags: ['muster', 'match-7'],
}

test.each(['', '  ', 'a1b2', 'error', 'sao paulo', 'PAULO match-7', 'arena 1.0 started', 'match-7 muster'])(
  '%j finds it',
  (text) => {
    expect(searchFor(text)(deployment)).toBe(true)
  },
)

test.each(['ready', 'match-8', 'sao lima', '.*', 'musteR x'])('%j does not find it', (text) => {
  expect(searchFor(text)(deployment)).toBe(false)
})

test('missing locations and errors are not found by null', () => {
  expect(searchFor('null')({ ...deployment, location: null, error: null })).toBe(false)
})
