/**
 * Runs the client in each supported runtime against an emulator in this process: `pnpm runtimes`. Runtimes other than
 * Node are downloaded when they are needed, since they are 100 MB each.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createEmulator } from '@muster/emulator'

const program = fileURLToPath(new URL('client.mjs', import.meta.url))
const runtimes = {
  node: [process.execPath],
  bun: ['npx', '-y', 'bun@1.4.5', 'run'],
  deno: ['npx', '-y', 'deno@2.9.6', 'run', '--allow-all', '--no-lock'],
}
const MOST_MS = 120_000

const emulator = createEmulator({ speed: 20, images: [{ image: 'studio/server', tag: '1.0' }] })
const { url } = await emulator.listen()
const failed = []
for (const [name, [command, ...flags]] of Object.entries(runtimes)) {
  const child = spawn(command, [...flags, program, url, name], { stdio: 'inherit', timeout: MOST_MS })
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  if (code !== 0) failed.push(name)
}
await emulator.close()
if (failed.length > 0) {
  process.stderr.write(`not as it should be: ${failed.join(', ')}\n`)
  process.exitCode = 1
}
