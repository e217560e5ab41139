import { expect, test } from 'vitest'
import { faultOfShownName } from './shown-name.js'

const UNSEEN = 'must have no control, direction, zero-width or filler characters'
const codes = (text: string) => Array.from(text, (one) => `U+${one.codePointAt(0)?.toString(16)}`).join(' ')

test('invisible characters are refused as a display name and within one', () => {
  // Characters that are drawn as nothing: Hangul fillers, the blank Braille pattern and others.
  const unseen = '\u3164\u2800\u115f\u1160\uffa0\u200b\u2060\ufeff\u202e\u034f\u180b\u180e\ufe00\ufe0e\ufe0f\u17b4'
  for (const one of [...unseen, '\u{e0100}', '\u{e0041}', '\u{13441}', '\u{16fe4}', '\u{1d159}', '\n', '\0', '\u2028'])
    for (const name of [one, `ann${one}`, `${one}ann`, ` ${one} `])
      expect(`${codes(name)}: ${faultOfShownName(name)}`).toBe(`${codes(name)}: ${UNSEEN}`)
  expect(faultOfShownName('\u2764\u3164')).toBe(UNSEEN)
})

test('a display name that consists of spaces is refused', () => {
  for (const name of [' ', '\u00a0', '\u3000', '\u2003 \u2009', '\u1680'])
    expect(`${codes(name)}: ${faultOfShownName(name)}`).toBe(`${codes(name)}: must not be blank`)
})

test('display names in any language, and with emoji, are accepted', () => {
  for (const name of [
    'Night CTF',
    'é',
    'e\u0301',
    '日本',
    '한국',
    'हिन्दी',
    'ไทย',
    'عربي',
    '🇩🇪',
    '👍🏽',
    '\u2764\ufe0f',
    '1\ufe0f\u20e3',
  ])
    expect(`${name}: ${faultOfShownName(name)}`).toBe(`${name}: undefined`)
})
