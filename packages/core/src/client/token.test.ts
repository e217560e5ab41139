import { expect, test } from 'vitest'
import { Unauthorized } from './errors.js'
import { createTokenSource, type Token } from './config.js'

const call = { facts: () => ({ operation: 'fleets.get', call: 'c-1' }) }

test('an API token given as a string is sent unchanged', () => expect(createTokenSource('secret')(call)).toBe('secret'))

test('the prefix "token", which dashboards show before an API token, is not sent twice', async () => {
  for (const given of ['token secret', 'Token  secret']) {
    expect(createTokenSource(given)(call)).toBe('secret')
    expect(await createTokenSource(() => given)(call)).toBe('secret')
  }
  expect(createTokenSource('tokenized')(call)).toBe('tokenized')
  expect(createTokenSource('token')(call)).toBe('token')
})

test.each([
  [undefined, 'missing'],
  [null, 'missing'],
  ['', 'empty'],
  ['secret\nheader: x', 'not a string that an HTTP header may contain'],
  ['with space', 'not a string that an HTTP header may contain'],
  ['sécret', 'not a string that an HTTP header may contain'],
  [7, 'not a string that an HTTP header may contain'],
])('the API token %j is refused when the client is created, without being shown', (token, what) => {
  expect(() => createTokenSource(token as Token)).toThrow(
    expect.objectContaining({
      name: 'InvalidInput',
      field: 'token',
      message: expect.stringContaining(`option token is ${what}:`),
    }),
  )
  expect(() => createTokenSource(token as Token)).not.toThrow(/secret|sécret|with space|7/)
})

test.each([
  ['an empty string', () => '', /must return a string that an HTTP header may contain/],
  ['a token that no header can hold', async () => 'secret\n', /must return a string that an HTTP header may contain/],
  ['undefined', () => undefined as unknown as string, /must return a string that an HTTP header may contain/],
])('a token function that returns %s makes the call Unauthorized', async (_, provide, message) => {
  const given = createTokenSource(provide as () => string)(call)
  await expect(given).rejects.toThrow(Unauthorized)
  await expect(given).rejects.toMatchObject({
    message: expect.stringMatching(message),
    operation: 'fleets.get',
    call: 'c-1',
  })
  await expect(given).rejects.not.toThrow(/secret/)
})

test('a token function that throws makes the call Unauthorized, with its error as the cause', async () => {
  const cause = new Error('vault is sealed')
  await expect(createTokenSource(() => Promise.reject(cause))(call)).rejects.toMatchObject({
    name: 'Unauthorized',
    cause,
  })
  await expect(
    createTokenSource(() => {
      throw cause
    })(call),
  ).rejects.toMatchObject({ name: 'Unauthorized', cause })
})
