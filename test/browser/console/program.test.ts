/** Tests the console's page in headless Chromium, over the real program and an emulator of the service. */
/// <reference lib="dom" />
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from '../chromium.js'
import { openProgram, tokens, type Program } from './program.js'
import { visit } from './visit.js'

describe.skipIf(chromiumPath === undefined)('the console served by the program', () => {
  let browser: Browser
  let program: Program
  beforeAll(async () => {
    browser = await launch()
    program = await openProgram()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await program?.close()
  })

  const join = (id: string, longitude: number) =>
    program.server().service.createTicket({
      id: `ticket-of-${id}`,
      queue: 'duel',
      players: [{ id, coordinates: { latitude: 52.5, longitude } }],
    })
  const open = (role: 'look' | 'operate') => visit(browser, `${program.url}#token=${tokens[role]}`)

  test('the console of a running server shows queued players and stories, and carries out operations', async () => {
    const { page, go, complaints } = await open('operate')
    const players = page.locator('.total.waiting b')
    await players.filter({ hasText: /^0$/ }).waitFor()
    await join('ann', 13.4)
    await join('ben', -74)
    await players.filter({ hasText: /^2$/ }).waitFor()
    await page.locator('.mark-waiting').nth(1).waitFor()

    await go('#/find/ann')
    await page.getByRole('heading', { name: 'player ann' }).waitFor()
    await page.getByRole('link', { name: 'ticket ticket-of-ann' }).first().click()
    await page.getByRole('heading', { name: 'ticket ticket-of-ann' }).waitFor()
    await page.getByRole('heading', { name: 'Why it waits' }).waitFor()
    expect(await page.getByRole('row', { name: /distance/i }).count()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Cancel the ticket' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the ticket' }).click()
    await page.getByText('Ticket ticket-of-ann is cancelled.').first().waitFor()
    await page.getByRole('listitem').filter({ hasText: 'cancelled' }).first().waitFor()
    expect(program.lines.filter((line) => line.includes('ops-team did cancel-ticket'))).toHaveLength(1)

    // Two players who are near each other play until an operator stops their match.
    await join('cem', -73)
    await go('#/find/ticket-of-cem')
    await page.getByRole('listitem').filter({ hasText: 'assigned' }).waitFor()
    await page
      .getByLabel('Belongs to')
      .getByRole('link', { name: /^match/ })
      .click()
    const match = page.url().split('/').at(-1) ?? ''
    await go('#/servers')
    await page.getByRole('row').filter({ hasText: match }).filter({ hasText: 'running' }).waitFor()
    await page.getByRole('link', { name: match }).click()
    await page.getByRole('button', { name: 'Stop the match' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the match' }).click()
    await page.getByRole('listitem').filter({ hasText: 'ended' }).waitFor()
    await go('#/changes')
    for (const did of ['stopped a match', 'cancelled a ticket']) {
      await page.getByRole('row').filter({ hasText: 'ops-team' }).filter({ hasText: did }).waitFor()
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('the console of a running server shows the output of a server process, and kills it', async () => {
    const killed: string[] = []
    const has = () => killed.length === 0
    const output = () => (has() ? 'the map is loaded\n' : undefined)
    const processes = { has, output, kill: (id: string) => killed.push(id) }
    const dev = await openProgram({ processes })
    const { page, go, complaints } = await visit(browser, `${dev.url}#token=${tokens.operate}`)
    for (const id of ['ann', 'ben'])
      await dev
        .server()
        .service.createTicket({ queue: 'duel', players: [{ id, coordinates: { latitude: 52.5, longitude: 13 } }] })
    await go('#/servers')
    await page.getByRole('row').filter({ hasText: 'running' }).waitFor()
    await page.getByRole('button', { name: /^Output of / }).click()
    await page.getByLabel('Output', { exact: true }).filter({ hasText: 'the map is loaded' }).waitFor()
    await page.getByRole('button', { name: /^Kill / }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Kill the server' }).click()
    await page
      .getByText(/^Server .* is killed\.$/)
      .first()
      .waitFor()
    const [id = ''] = killed
    expect(await page.getByRole('heading', { name: `Output of ${id}` }).count()).toBe(1)
    await go('#/changes')
    await page.getByRole('row').filter({ hasText: id }).filter({ hasText: 'killed a server' }).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
    await dev.close()
  })

  test('the console of a running server changes a rule from end to end', async () => {
    const { page, go, complaints } = await open('operate')
    await go('#/queues/duel')
    const yaml = page.getByRole('textbox', { name: 'duel as YAML' })
    const before = await yaml.inputValue()
    const line = before.split('\n').findIndex((text) => text.includes('kind: distance')) + 1
    await yaml.fill(before.replace('kind: distance', 'kind: nonsense'))
    await page.getByRole('button', { name: 'Apply' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Apply the change' }).click()
    await dialog
      .getByRole('alert')
      .filter({ hasText: 'nonsense' })
      .or(dialog.getByText(`ine ${line}`))
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: new RegExp(`^Line ${line}, column \\d+$`) }).waitFor()

    await join('dan', 13.4)
    await join('eve', 30.3)
    await yaml.fill(before.replace('maxKm: 1000', 'maxKm: 3000'))
    await page.getByRole('button', { name: 'Try on the last hour' }).click()
    await page.getByText('What the last hour would have been').waitFor()
    expect(await page.getByRole('row', { name: /^Matches/ }).textContent()).toMatch(/^Matches\d/)
    await page.getByRole('button', { name: 'Apply' }).click()
    await dialog.getByRole('button', { name: 'Apply the change' }).click()
    await page.getByText('3,000 km').first().waitFor()
    await page.getByText('The change is active, but not saved in a file').waitFor()
    await go('#/find/ticket-of-dan')
    await page.getByRole('listitem').filter({ hasText: 'found' }).waitFor()
    expect(program.lines.filter((text) => text.includes('ops-team did apply-queue'))).toHaveLength(1)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('the console is read-only for the role look, whose operations the server refuses', async () => {
    const { page, go } = await open('look')
    await page.getByText('may look').waitFor()
    await go('#/queues/duel')
    await page.getByText('Your role may try changes, but not apply them.').waitFor()
    const status = await page.evaluate(async (token) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch('api/queues/duel/pause', { method: 'POST', headers })).status
    }, tokens.look)
    expect(status).toBe(403)
    await page.context().close()
  })

  test('the console of a running server reconnects by itself after the server was restarted', async () => {
    const { page, complaints } = await open('look')
    await page.locator('.heard.live').waitFor()
    await program.restart(async () => {
      await page.locator('.heard.away').waitFor()
    })
    await page.locator('.heard.live').waitFor()
    await page
      .getByText('Started just now')
      .or(page.getByText(/Started \d+ s ago/))
      .waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
