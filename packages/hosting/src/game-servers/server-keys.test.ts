import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createServerKeys, joinKeyOf } from './server-keys.js'

const keys = createServerKeys(() => 'a master secret of thirty-two bytes')
const credential = fc.stringMatching(/^[\w-]{1,57}$/)

test('every process with the same master secret accepts a server token and reads the credential in it', () => {
  const elsewhere = createServerKeys(() => 'a master secret of thirty-two bytes')
  fc.assert(
    fc.property(credential, (one) => {
      expect(elsewhere.credentialIn(keys.tokenOf(one))).toBe(one)
      expect(keys.tokenOf(one).length).toBeLessThanOrEqual(80)
    }),
  )
})

test('a server token that is changed or comes from another server or master secret is not accepted', () => {
  const other = createServerKeys(() => 'another master secret of thirty-two b')
  fc.assert(
    fc.property(credential, credential, fc.nat(), (one, another, at) => {
      const token = keys.tokenOf(one)
      expect(other.credentialIn(token)).toBeUndefined()
      const index = at % token.length
      const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
      // The last character of the signature has unused bits.
      if (index < token.length - 1) expect(keys.credentialIn(changed)).toBeUndefined()
      if (one === another) return
      const swapped = another + token.slice(token.lastIndexOf('.'))
      expect(keys.credentialIn(swapped)).toBeUndefined()
    }),
  )
})

test.each([
  '',
  '.',
  'm1',
  'm1.',
  '.aaaaaaaaaaaaaaaaaaaaaa',
  'm1.short',
  'm 1.aaaaaaaaaaaaaaaaaaaaaa',
  'x'.repeat(10_000),
])('the malformed server token %j is not accepted', (text) => {
  expect(keys.credentialIn(text.slice(0, 20_000))).toBeUndefined()
})

test('a sealed string can be opened only unchanged and with the same master secret', () => {
  const elsewhere = createServerKeys(() => 'a master secret of thirty-two bytes')
  const other = createServerKeys(() => 'another master secret of thirty-two b')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
      const sealed = keys.seal(text)
      expect(keys.seal(text)).not.toBe(sealed)
      expect(elsewhere.unseal(sealed)).toBe(text)
      expect(other.unseal(sealed)).toBeUndefined()
      const bytes = Buffer.from(sealed, 'base64url')
      bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ 1, at % bytes.length)
      expect(keys.unseal(bytes.toString('base64url'))).toBeUndefined()
      expect(keys.unseal(sealed.slice(0, at % sealed.length))).toBeUndefined()
    }),
  )
})

test('a server derives the key of its join tokens from its token', () => {
  expect(joinKeyOf(keys.tokenOf('m1'))).toEqual(keys.joinKeyOf('m1'))
  expect(keys.joinKeyOf('m2')).not.toEqual(keys.joinKeyOf('m1'))
})
