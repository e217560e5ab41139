import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setUp } from './console.fixture.js'
import { serve } from './http.fixture.js'

const script = `console.log(${JSON.stringify('x'.repeat(5000))})`
let folder: string
let http: Awaited<ReturnType<typeof serve>>
let close: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-pages-'))
  await writeFile(join(folder, 'index.html'), '<!doctype html><div id="app"></div>')
  await writeFile(join(folder, 'console.js'), script)
  await writeFile(join(folder, 'secret.env'), 'TOKEN=1')
  const { console } = setUp({ pages: pathToFileURL(`${folder}/`), hosts: ['mm.example.com'] })
  http = await serve(console)
  close = console.close
})
afterAll(async () => {
  await close()
  await http.close()
  await rm(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => http.ask(path, { headers, method })

describe('the console page', () => {
  test('the console page is served at the path with a slash, with its files next to it', async () => {
    expect(await get('/console')).toMatchObject({ status: 308, headers: { location: '/console/' } })
    const page = await get('/console/')
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(page.text).toContain('id="app"')
    expect((await get('/console/console.js')).text).toBe(script)
  })

  test('the console page allows only its own script and style sheet, no frames, and no referrer', async () => {
    for (const path of ['/console', '/console/', '/console/console.js', '/console/nothing', '/elsewhere']) {
      const { headers } = await get(path)
      expect(String(headers['content-security-policy']).split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ])
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
    }
  })

  test('the console page is compressed as the browser accepts it, and not sent again while unchanged', async () => {
    const plain = await get('/console/console.js')
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': 'no-cache' })
    const br = await get('/console/console.js', { 'accept-encoding': 'gzip, deflate, br' })
    expect(br.headers['content-encoding']).toBe('br')
    expect(String(brotliDecompressSync(br.bytes))).toBe(script)
    const gzip = await get('/console/console.js', { 'accept-encoding': 'gzip;q=0.5, br;q=0' })
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(String(gunzipSync(gzip.bytes))).toBe(script)
    expect(gzip.bytes.byteLength).toBeLessThan(plain.bytes.byteLength)
    const etag = String(plain.headers['etag'])
    const again = await get('/console/console.js', { 'if-none-match': `"other", W/${etag}` })
    expect(again).toMatchObject({ status: 304, headers: { etag } })
    expect(again.bytes.byteLength).toBe(0)
    expect(await get('/console/console.js', {}, 'HEAD')).toMatchObject({ status: 200, headers: { etag } })
  })

  test.each([
    '/console/secret.env',
    '/console/../console/secret.env',
    '/console/..%2f..%2fetc%2fpasswd',
    '/console/%2e%2e/package.json',
    '/console/constructor',
    '/console//index.html',
    '/consoles/',
  ])('the console page does not expose %s', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  test('the console page refuses methods other than GET', async () => {
    expect(await get('/console/', {}, 'DELETE')).toMatchObject({ status: 405, headers: { allow: 'GET' } })
  })

  test.each(['127.0.0.1:1', 'localhost', '[::1]:8080', 'mm.example.com', 'MM.example.com:443'])(
    'the console page is served to the host %s',
    async (host) => expect((await get('/console/', { host })).status).toBe(200),
  )
  test.each(['evil.example', 'mm.example.com.evil.example', 'x.mm.example.com', '127.0.0.1@evil.example'])(
    'the console page is not served to the host %j, which may be a hostile page’s own name',
    async (host) => expect((await get('/console/', { host })).status).toBe(421),
  )

  test('the console answers 503 with the code no-page until its page is bundled, and then with the page', async () => {
    const empty = pathToFileURL(`${folder}/later/`)
    const { console } = setUp({ pages: empty })
    const ask = () => console.handle(new Request('http://localhost/console/', { headers: { host: 'localhost' } }))
    const refused = await ask()
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'no-page' })
    await mkdir(empty)
    await writeFile(new URL('index.html', empty), 'bundled')
    expect(await (await ask()).text()).toBe('bundled')
  })
})
