import { runInNewContext } from 'node:vm'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { openApi } from './api.fixture.js'

/** Returns a script that assigns the exports of modules to the global `Muster`. */
async function bundle(...modules: readonly string[]): Promise<string> {
  const contents = modules.map((module) => `export * from './${module}.ts'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName: 'Muster',
    target: 'es2020',
  })
  return outputFiles[0]?.text ?? ''
}

describe('the bundle of the client', () => {
  test.each([
    ['client', ['index'], 8000],
    ['client with lobbies and servers', ['index', 'lobbies', 'servers'], 11_000],
  ])('the gzipped bundle of the %s is not larger than its limit of bytes', async (_, modules, most) => {
    expect(gzipSync(await bundle(...modules)).length).toBeLessThanOrEqual(most)
  })
})

test('the client bundle needs no global but fetch, AbortController and timers, as in React Native', async () => {
  const { connect, run, fetchWith, close } = openApi()
  const has = { fetch: fetchWith(() => 'arrives'), AbortController, setTimeout, clearTimeout, Date }
  const script = `${await bundle('index')}
    const clock = { now: () => Date.now(), sleep: (ms, signal) => sleep(ms, signal) }
    const muster = Muster.createMuster({ url: 'http://play.example', token: 'ann', clock })
    const result = muster.play({ profile: 'duel' }).then(({ fqdn }) => fqdn)`
  const context: Record<string, unknown> = { ...has, sleep: connect('cat').clock.sleep }
  runInNewContext(`${script}; this.result = result; this.muster = muster`, context)
  connect('ben')
    .play({ profile: 'duel' })
    .catch(() => {})
  await run(8)
  expect(await (context['result'] as Promise<string>)).toMatch(/\w/)
  expect(Object.keys(context).toSorted()).not.toContain('EventSource')
  await close()
})
