import { expect, test } from 'vitest'
import { colours } from './base-style.js'

/** Returns the relative luminance of a colour `#rrggbb` (WCAG 2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const texts = ['--ink', '--quiet', '--ready', '--starting', '--forming', '--error', '--stopping'] as const
const grounds = ['--ground', '--surface', '--inset', '--sea'] as const
const schemes = ['light', 'dark'] as const

test('the light and the dark scheme define the same colours', () => {
  expect(Object.keys(colours.dark)).toEqual(Object.keys(colours.light))
})

test.each(schemes.flatMap((scheme) => texts.map((text) => [text, scheme] as const)))(
  'the text colour %s is readable on every surface of the %s scheme',
  (text, scheme) => {
    const of = colours[scheme]
    for (const ground of grounds) expect(contrast(of[text], of[ground]), ground).toBeGreaterThan(4.5)
  },
)

test.each(schemes)('field borders, and text on the accent colour, have enough contrast in the %s scheme', (scheme) => {
  const of = colours[scheme]
  expect(contrast(of['--strong-line'], of['--surface'])).toBeGreaterThan(3)
  expect(contrast(of['--on-accent'], of['--starting'])).toBeGreaterThan(4.5)
})
