/** An allocator of this folder as a process on loopback, for tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHttpAllocator } from '@muster/matchmaker/internal'
import { onTestFinished } from 'vitest'

export const call = { timeoutMs: 20_000 }
export const wanted = (id: string) => ({
  id,
  application: 'game',
  version: '1',
  places: [],
  environment: { MUSTER_SERVER_TOKEN: 'a "token"' },
})

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-allocator-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** Starts a program of this folder. @param env variables in addition to those of this process */
export async function openAllocator(name: string, env: Readonly<Record<string, string>>) {
  const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`
  const script = fileURLToPath(new URL(`../dist/allocator/${name}.js`, import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script], {
    env: { ...process.env, ALLOCATOR_SECRET: secret, PORT: '0', ...env },
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
  return { allocator, port, secret, close }
}
