/**
 * Plays the game in Chromium with four pages. They find one another and play. One page reloads and continues, one
 * leaves and is replaced, and the result changes the ratings. Then two of the pages play over a relay.
 */
/// <reference lib="dom" />
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { systemClock } from '@muster/core/clock'
import { type Browser, chromium, type Page } from 'playwright-core'
import { WebSocket } from 'ws'
import { type Game, startGame } from './backend.js'
import type { World } from './rules.js'
import { isBot } from './sessions.js'

const executablePath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path))

/** Maximum milliseconds of the whole check. On an idle machine it takes half a minute. */
const LONGEST_MS = 60_000

interface GameView {
  readonly id: string
  readonly queue: string
  readonly host: string
  readonly port: number
}

/** Runs the check. @returns true if it passed, or if there is no Chromium */
export async function checkGame(): Promise<boolean> {
  if (executablePath === undefined) {
    console.log('no Chromium on this machine: the game is not played (set CHROMIUM to its path)')
    return true
  }
  const game = await startGame({ seconds: 15, patienceMs: 6000 })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  try {
    await playAll(game, browser)
    return true
  } catch (error) {
    console.error(error)
    return false
  } finally {
    await browser.close()
    await game.close()
  }
}

async function playAll({ url, ratings }: Game, browser: Browser): Promise<void> {
  const pages = await Promise.all(Array.from({ length: 4 }, () => visit(browser, url)))
  const [ann, ben, cas] = pages as [Page, Page, Page, Page]
  const ids = await Promise.all(pages.map(idOf))
  const [annsId = '', bensId = '', casId = ''] = ids
  await ann.waitForSelector('#games button')
  console.log('while nobody plays, a game of bots is in the list')

  await Promise.all(pages.map((page) => page.click('#pairs')))
  await Promise.all(pages.map(isPlaying))
  const watched = await watchPairs(url)
  await until('all four are on the field', () => ids.every((id) => watched.world().here.includes(id)))
  console.log('four pages have found each other')

  const placeOf = (id: string) => watched.world().skaters.find((skater) => skater.id === id)
  await until('the face-off is over', () => watched.world().faceOff <= 0)
  const before = placeOf(annsId)?.y ?? 0
  await ann.keyboard.down('ArrowDown')
  await until('ann has moved', () => Math.abs((placeOf(annsId)?.y ?? before) - before) > 60)
  await ann.keyboard.up('ArrowDown')
  console.log('who presses a key moves, and a spectator sees it')

  const team = placeOf(bensId)?.team
  await ben.reload()
  await until('ben was away', () => watched.heard.some(({ here }) => here.length === 3))
  await isPlaying(ben)
  await until('ben is back', () => watched.world().here.includes(bensId))
  assert.deepEqual([await idOf(ben), placeOf(bensId)?.team], [bensId, team])
  console.log('who reloads is back in the same seat')

  await cas.click('#leave')
  await until('another plays for cas', () => {
    const { skaters, here } = watched.world()
    return skaters.length === 4 && here.length === 4 && !here.includes(casId) && here.some(isBot)
  })
  console.log('who leaves is replaced')

  const stopChase = chase(ann, annsId, watched.world)
  const stayed = pages.filter((page) => page !== cas)
  await Promise.all(stayed.map((page) => page.waitForSelector('#detail:has-text("Your rating was 1000")')))
  await stopChase()
  const shown = await Promise.all(stayed.map((page) => page.textContent('#status')))
  for (const [nth, page] of stayed.entries()) {
    const { shown: rated, played } = ratings.standing(await idOf(page))
    assert.equal(played, 1)
    assert.equal(rated > 1000, shown[nth] === 'You have won', `${shown[nth]}, and the rating is ${rated}`)
    assert.match((await page.textContent('#me')) ?? '', new RegExp(` ${rated}$`))
  }
  assert.equal(ratings.standing(casId).played, 0)
  console.log('the result has changed the ratings of those who played to the end')

  await ann.click('#host')
  const code = /[A-Z]{6,}/.exec(
    (await (await ann.waitForSelector('#status:has-text("Code")')).textContent()) ?? '',
  )?.[0]
  await ben.fill('#code', code ?? '')
  await ben.click('#join button')
  await ben.click('#ready')
  await ann.click('#start')
  const names = [annsId, bensId].map((id) => id.replace(/-\w+$/, '').replace('-', ' '))
  for (const page of [ann, ben]) await page.waitForSelector(`#field[aria-label$=": ${names.join(', ')}"]`)
  console.log('two friends play over a relay, without a server')
}

async function visit(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(LONGEST_MS)
  page.on('pageerror', (error) => console.error(`the page: ${error.message}`))
  await page.goto(url)
  await page.waitForSelector('#pairs:visible')
  return page
}

const idOf = (page: Page) => page.evaluate(() => sessionStorage.getItem('token')?.split('~')[0] ?? '')

const isPlaying = (page: Page) => page.waitForSelector('body.playing:has(#panel[hidden])')

/** Returns what a spectator of the game with four players sees. */
async function watchPairs(url: string) {
  const { games } = (await (await fetch(`${url}/games`)).json()) as { readonly games: readonly GameView[] }
  const found = games.find(({ queue }) => queue === 'pairs')
  assert(found)
  const heard: (World & { readonly here: readonly string[] })[] = []
  const socket = new WebSocket(`ws://${found.host}:${found.port}`)
  socket.on('open', () => socket.send(JSON.stringify({ watch: found.id })))
  socket.on('message', (data) => {
    const { world } = JSON.parse(String(data))
    if (world !== undefined) heard.push(world)
  })
  await until('the spectator sees something', () => heard.length > 0)
  return { heard, world: () => heard.at(-1) as (typeof heard)[number] }
}

/** Follows the puck with the arrow keys. @returns a function that stops following */
function chase(page: Page, id: string, world: () => World): () => Promise<void> {
  const keys = { x: ['ArrowLeft', 'ArrowRight'], y: ['ArrowUp', 'ArrowDown'] } as const
  const held = new Set<string>()
  const ending = new AbortController()
  const hold = async (key: string, isWanted: boolean) => {
    if (held.has(key) === isWanted) return
    if (isWanted) held.add(key)
    else held.delete(key)
    await (isWanted ? page.keyboard.down(key) : page.keyboard.up(key))
  }
  const done = (async () => {
    while (!ending.signal.aborted) {
      const { puck, skaters } = world()
      const own = skaters.find((skater) => skater.id === id)
      for (const axis of ['x', 'y'] as const) {
        // The page always shows the player's own goal on the left.
        const way = own === undefined ? 0 : (puck[axis] - own[axis]) * (own.team === 0 ? 1 : -1)
        for (const [nth, key] of keys[axis].entries()) await hold(key, nth === 0 ? way < -30 : way > 30)
      }
      await systemClock.sleep(50)
    }
  })()
  return () => {
    ending.abort()
    return done
  }
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 50) {
    assert(waited < LONGEST_MS, `not within ${LONGEST_MS / 1000} s: ${what}`)
    await systemClock.sleep(50)
  }
}
