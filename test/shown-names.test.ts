import { faultOfShownName } from '@muster/core/internal'
import { createGameServer } from '@muster/game-server'
import { expect, test } from 'vitest'

test('the game-server package refuses the same display names as Muster', () => {
  const server = createGameServer({ env: {}, handleSignals: false, fetch: () => Promise.reject(new Error('no')) })
  const said = (name: string): string | undefined => {
    try {
      server.list({ name, seats: 1 })
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
  const differing: string[] = []
  for (let code = 0; code <= 0x10_ffff; code += 1) {
    const name = `a${String.fromCodePoint(code)}`
    const fault = faultOfShownName(name)
    // Most characters are valid in names, so only each 101st of them is tried.
    if (fault === undefined && code % 101 !== 0) continue
    if (said(name) !== (fault && `name: ${fault}, got ${JSON.stringify(name)}`))
      differing.push(`U+${code.toString(16)}`)
  }
  expect(differing).toEqual([])
})
