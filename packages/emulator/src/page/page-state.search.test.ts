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
  'the page search for %j finds the deployment',
  (text) => {
    expect(searchFor(text)(deployment)).toBe(true)
  },
)

test.each(['ready', 'match-8', 'sao lima', '.*', 'musteR x'])(
  'the page search for %j does not find the deployment',
  (text) => {
    expect(searchFor(text)(deployment)).toBe(false)
  },
)

test('the page search for null does not find missing locations and errors', () => {
  expect(searchFor('null')({ ...deployment, location: null, error: null })).toBe(false)
})
