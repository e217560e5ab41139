/** The allocator as a process on loopback, with a stub in place of ssh that keeps a file for each unit. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidInput } from '@muster/core'
import { createHttpAllocator } from '@muster/matchmaker/internal'
import { expect, onTestFinished, test } from 'vitest'

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
const call = { timeoutMs: 20_000 }

/** systemd of one machine, as far as the allocator speaks to it: a unit runs while its file is there. */
const STUB = `#!/bin/sh
cd "$(dirname "$0")"
unit=$(printf %s "$2" | grep -o 'muster-[a-z0-9-]*' | head -1)
case "$2" in
*systemd-run*) cat > "$unit.input"; test -e "$unit" || { touch "$unit"; echo "$unit" >> started; } ;;
*'systemctl show'*) test -e "$unit" && echo active || echo inactive ;;
*'systemctl stop'*) rm -f "$unit" ;;
esac
`

async function open(folder: string) {
  const env = { ...process.env, ALLOCATOR_SECRET: secret, MACHINES: 'fra-1.example.com', PORT: '0' }
  const script = fileURLToPath(new URL('../dist/allocator/allocator.js', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script], {
    env: { ...env, STATE: join(folder, 'state.json'), REMOTE: join(folder, 'remote') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [Buffer]
  const port = /"port":(\d+)/.exec(String(line))?.[1]
  const allocator = createHttpAllocator({ url: `http://127.0.0.1:${port}`, secret })
  const close = async () => {
    await allocator.close()
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  onTestFinished(close)
  return { allocator, port, close }
}

test('starts one unit an id, finds it after a restart, stops it, and starts it no more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-allocator-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'remote'), STUB)
  await chmod(join(folder, 'remote'), 0o700)
  const environment = { MUSTER_SERVER_TOKEN: 'a "token"' }
  const wanted = (id: string) => ({ id, application: 'game', version: '1', places: [], environment })
  const before = await open(folder)
  expect(await before.allocator.poll(['a'], call)).toEqual([{ id: 'a', status: 'unknown' }])
  await before.allocator.allocate(wanted('a'), call)
  await before.allocator.allocate(wanted('a'), call)
  expect(await readFile(join(folder, 'started'), 'utf8')).toBe('muster-a\n')
  const input = await readFile(join(folder, 'muster-a.input'), 'utf8')
  expect(input).toBe('MUSTER_SERVER_TOKEN="a \\"token\\""\nSERVICE_PORT_GAME_INTERNAL="31000"')
  await before.close()

  const { allocator, port } = await open(folder)
  const ports = { game: { port: 31_000, protocol: 'UDP' } }
  expect(await allocator.poll(['a'], call)).toEqual([{ id: 'a', status: 'ready', host: 'fra-1.example.com', ports }])
  await allocator.stop('a', call)
  await allocator.stop('never', call)
  for (const id of ['a', 'never'])
    await expect(allocator.allocate(wanted(id), call)).rejects.toBeInstanceOf(InvalidInput)
  expect((await readdir(folder)).filter((name) => /^muster-\w+$/.test(name))).toEqual([])
  expect((await stat(join(folder, 'state.json'))).mode & 0o777).toBe(0o600)
  const forged = await fetch(`http://127.0.0.1:${port}/stop`, { method: 'POST', body: '{"id":"b"}' })
  expect(forged.status).toBe(401)
})
