/**
 * Runs a program of examples/ with the emulator in its mode `observed`, e.g. `node --import
 * ./test/world/as-observed.mjs examples/dist/demo/main.js`. The program's imports of @muster/emulator and @muster/core
 * get that option and the matching client settings.
 */
import { register } from 'node:module'

register('./as-observed-hooks.mjs', import.meta.url)
