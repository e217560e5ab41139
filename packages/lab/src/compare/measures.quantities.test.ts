import { expect, test } from 'vitest'
import { quantity, signed, type Unit } from './measures.js'

test.each([
  [0, 'ms', '0 ms'],
  [849.6, 'ms', '850 ms'],
  [999.6, 'ms', '1 s'],
  [9400, 'ms', '9.4 s'],
  [9960, 'ms', '10 s'],
  [119_400, 'ms', '119 s'],
  [185_000, 'ms', '3 min 5 s'],
  [7_800_000, 'ms', '2 h 10 min'],
  [0.9723, 'share', '97.2 %'],
  [1234.5, 'km', '1,235 km'],
  [1_234_567, 'count', '1,234,567'],
  [0.123, 'skill', '0.12'],
  [45.67, 'skill', '45.7'],
  [312.4, 'skill', '312'],
  [12.345, 'hours', '12.3 h'],
] as const)('the number %d with unit %s is written as %s', (value, unit, text) => {
  expect(quantity(value, unit as Unit)).toBe(text)
})

test('differences are written with a sign, shares in points, and what rounds to 0 as none', () => {
  expect([signed(-0.0141, 'share'), signed(3200, 'ms'), signed(-3200, 'ms')]).toEqual([
    '−1.4 points',
    '+3.2 s',
    '−3.2 s',
  ])
  expect([signed(0.00001, 'share'), signed(-0.2, 'ms'), quantity(-0.001, 'count')]).toEqual(['±0', '±0', '0'])
  expect(quantity(3.2, 'money', 'EUR')).toBe('3.20 EUR')
})
