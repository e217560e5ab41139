import { createManualClock } from '../time.js'
import { createBodies } from './bodies.js'
import { jsonOf } from './input.js'

const bodies = createBodies({ clock: createManualClock() })

export const readBytes = (request: Request, maxBytes: number) => bodies.begin(request, maxBytes, 'somebody').bytes()

export const readJson = async (request: Request, maxBytes: number) =>
  jsonOf(request, await readBytes(request, maxBytes))
