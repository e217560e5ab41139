import { onTestFinished } from 'vitest'
import { setUp } from './console.fixture.js'
import { serve } from './http.fixture.js'

/** A console of `setUp` behind node:http. Both end with the test, or with `close`. */
export async function openConsole(options?: Parameters<typeof setUp>[0]) {
  const world = setUp(options)
  const http = await serve(world.console)
  const close = async () => {
    await world.console.close()
    await http.close()
  }
  onTestFinished(close)
  return { ...world, ...http, close }
}
