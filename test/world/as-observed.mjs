/**
 * Lets a program of examples/ run on the emulator in its mode observed, e.g.
 * `node --import ./test/world/as-observed.mjs examples/dist/demo/main.js`.
 * What the program imports from @muster/emulator and @muster/core gets the option and the client's settings from here.
 */
import { register } from 'node:module'

register('./as-observed-hooks.mjs', import.meta.url)
