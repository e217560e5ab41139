import { expect, test } from 'vitest'
import { MASK, shownVariables, withoutSecrets } from './mask-secrets.js'

const hidden = new Set(['PIN', 'KEY'])

test('a page shows variables, but no values of hidden variables and of variables named like secrets', () => {
  const environment = { MODE: 'duel', PIN: '1234', DB_PASSWORD: 'x', GITHUB_TOKEN: 'y', ['__proto__']: 'odd' }
  expect(shownVariables(environment, hidden)).toEqual([
    { name: 'DB_PASSWORD', value: undefined },
    { name: 'GITHUB_TOKEN', value: undefined },
    { name: 'MODE', value: 'duel' },
    { name: 'PIN', value: undefined },
    { name: '__proto__', value: 'odd' },
  ])
})

test('withoutSecrets removes secrets from texts in plain and encoded form', () => {
  const environment = { PIN: '12345', KEY: '12345-"long"', MODE: 'duel' }
  const text = `mode duel, pin 12345, key 12345-"long", ${JSON.stringify(environment)}`
  expect(withoutSecrets(text, environment, hidden)).toBe(
    `mode duel, pin ${MASK}, key ${MASK}, {"PIN":"${MASK}","KEY":"${MASK}","MODE":"duel"}`,
  )
})

test('withoutSecrets removes each line of a secret with several lines', () => {
  const key = '-----BEGIN KEY-----\nMIIBOgIBAAJBAKj34\nGkxFhD90vcNLYLInF\n--\n'
  expect(withoutSecrets('> MIIBOgIBAAJBAKj34\n> GkxFhD90vcNLYLInF\n--', { KEY: key }, hidden)).toBe(
    `> ${MASK}\n> ${MASK}\n--`,
  )
})

test('withoutSecrets leaves values too short to recognize and texts without secrets unchanged', () => {
  expect(withoutSecrets('1 of 10', { PIN: '1', KEY: '' }, hidden)).toBe('1 of 10')
})
