import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDottedQuad, leadingHalf } from './ip.js'

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const PATTERN = new RegExp(`^(?:${OCTET}\\.){3}${OCTET}$`)

test('four plain decimal numbers are an address, and nothing else is', () => {
  const octet = fc.oneof(fc.nat(255).map(String), fc.nat(1200).map(String), fc.constantFrom('', '00', '01', '1e1'))
  const quad = fc.tuple(fc.array(octet, { minLength: 1, maxLength: 5 }), fc.constantFrom('.', '.', '.', ':', '..'))
  const nearly = quad.map(([octets, between]) => octets.join(between))
  const odd = fc.string({ unit: fc.constantFrom('0', '1', '9', '.', ' ', '\n', '٣', '²'), maxLength: 16 })
  fc.assert(
    fc.property(fc.oneof(nearly, odd, fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
      expect(isDottedQuad(text)).toBe(PATTERN.test(text))
      if (!PATTERN.test(text)) return
      const [first, second] = text.split('.').map(Number)
      expect(leadingHalf(text)).toBe(256 * (first as number) + (second as number))
    }),
  )
})
