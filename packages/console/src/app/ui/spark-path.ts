// pure: a small line without axes
import type { Values } from '../state/series.js'

/**
 * The data of an SVG path for values at equal steps, from 0 at the bottom to `most` at the top. Gaps stay gaps, and the
 * last value is at the right edge, so a short history leaves the left side empty.
 */
export function sparkPath(values: Values, steps: number, width: number, height: number, most: number): string {
  const shown = values.slice(-steps)
  const first = steps - shown.length
  let path = ''
  let isOpen = false
  for (const [at, value] of shown.entries()) {
    if (value === null) {
      isOpen = false
      continue
    }
    const x = rounded(((first + at) / Math.max(1, steps - 1)) * width)
    const y = rounded(height - (most <= 0 ? 0 : (value / most) * height))
    path += isOpen ? `L${x} ${y}` : `M${x} ${y}h0`
    isOpen = true
  }
  return path
}

const rounded = (value: number) => Math.round(value * 10) / 10
