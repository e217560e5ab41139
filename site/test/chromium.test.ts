import { createServer, type Server } from 'node:http'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from '../../test/browser/chromium.js'
import { dist } from './pages.js'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** One page of each kind */
const PAGES = [
  '/',
  '/a-game.html',
  '/configuration.html',
  '/servers.html',
  '/console.html',
  '/ARCHITECTURE.html',
  '/decisions/',
  '/http/ticket-api/tickets.html',
  '/api/@muster/matchmaker/functions/createMatchmaker.html',
]
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** A diagram is text until the browser has drawn it. It is drawn again in other colours: see `markDrawings`. */
const ALL_DRAWN = "document.querySelector('pre.drawing, svg.earlier') === null"
const markDrawings =
  "for (const svg of document.querySelectorAll('svg[aria-roledescription]')) svg.classList.add('earlier')"

let server: Server
let browser: Browser
let url: string

/** Serves the built site like any web server for static files. */
function serve(): Promise<Server> {
  const site = createServer(({ url: asked = '/' }, response) => {
    const path = decodeURI(asked.replace(/[?#].*$/, '')).replace(/\/$/, '/index.html')
    if (!existsSync(`${dist}${path}`)) return response.writeHead(404).end()
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream')
    return response.end(readFileSync(`${dist}${path}`))
  })
  return new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(site)))
}

describe.skipIf(chromiumPath === undefined)('a page of the site in Chromium', () => {
  beforeAll(async () => {
    server = await serve()
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  const violations = (page: Page) =>
    page.evaluate(async () => {
      interface Found {
        readonly violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[]
      }
      const found = await (globalThis as unknown as { axe: { run(options: object): Promise<Found> } }).axe.run({
        resultTypes: ['violations'],
      })
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`)
    })

  async function open(page: Page, path: string) {
    await page.goto(`${url}${path}`)
    await page.waitForFunction(ALL_DRAWN)
  }

  // One tab visits all pages, and each page changes its colours in place: processes and page loads cost the most CPU.
  test.each([
    { size: 'desktop', first: 'light', second: 'dark' },
    { size: 'phone', first: 'dark', second: 'light' },
  ] as const)(
    'a site page in Chromium is accessible, loads own files only and fits $size, $first and then $second',
    async ({ size, first, second }) => {
      const viewport = SIZES[size]
      const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const wrong: string[] = []
      for (const path of PAGES) {
        const elsewhere = (request: Request) => {
          const asked = request.url()
          if (!asked.startsWith(url) && !asked.startsWith('data:')) wrong.push(`${path}: ${asked}`)
        }
        page.on('request', elsewhere)
        await page.emulateMedia({ colorScheme: first })
        await open(page, path)
        await page.addScriptTag({ path: axe })
        for (const colorScheme of [first, second]) {
          if (colorScheme === second) await page.evaluate(markDrawings)
          await page.emulateMedia({ colorScheme })
          const isDark = colorScheme === 'dark'
          await page.waitForFunction(`document.documentElement.classList.contains('dark') === ${isDark}`)
          await page.waitForFunction(ALL_DRAWN)
          wrong.push(...(await violations(page)).map((one) => `${path}, ${colorScheme}: ${one}`))
          const width = await page.evaluate('document.documentElement.scrollWidth')
          if (width !== viewport.width) wrong.push(`${path}, ${colorScheme}: is ${width} px wide`)
        }
        page.off('request', elsewhere)
      }
      await context.close()
      expect(wrong).toEqual([])
    },
  )

  test('a site page draws its diagrams in Chromium', async () => {
    const context = await browser.newContext({ viewport: SIZES.desktop })
    const page = await context.newPage()
    await open(page, '/ARCHITECTURE.html')
    await expect.poll(() => page.locator('.vp-doc svg[aria-roledescription]').count()).toBe(3)
    expect(await page.locator('.vp-doc svg', { hasText: 'server: the muster program' }).count()).toBe(1)
    await context.close()
  })

  test('the search box of a site page shows the hits of the search index', async () => {
    const context = await browser.newContext({ viewport: SIZES.desktop })
    const page = await context.newPage()
    await open(page, '/')
    await page.keyboard.press('Control+k')
    await page.fill('#localsearch-input', 'server never ready')
    const first = page.locator('#localsearch-list a').first()
    await first.waitFor()
    await expect.poll(() => first.getAttribute('href')).toBe('/game-server.html#when-a-server-never-becomes-ready')
    await context.close()
  })
})

if (chromiumPath === undefined)
  process.stdout.write('the documentation site is not looked at: there is no Chromium on this machine\n')
