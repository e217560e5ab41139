/** Sends the requests of docs/game-clients.md to the API over HTTP. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { playAll, sequences } from './sequences.js'

test('docs/game-clients.md has the expected sequences of requests', () => {
  expect(sequences.map(({ title }) => title)).toEqual([
    'Wait for a match',
    'Resume after a crash',
    'Accept a match',
    'Cancel',
    'Play as a group',
  ])
})

/** Starts `muster dev` without a configuration. Requests can be sent as one of its players. */
async function openDev() {
  const main = fileURLToPath(new URL('../../packages/server/dist/cli/main.js', import.meta.url))
  const command = [main, 'dev', '--port', '0', '--emulator-port', '0', '--token', 'TOKEN']
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const said: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      said.push(line)
      const api = /^ +API +(http:\S+)/.exec(line)?.[1]
      if (api !== undefined) resolve(api)
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`muster dev has ended: ${said.join('\n')}`)))
  })
  const send = (token: string, method: string, path: string, body?: unknown, origin?: string) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(origin !== undefined && { origin }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    send,
    as: (who: string, method: string, path: string, body?: unknown) => send(`TOKEN:${who}`, method, path, body),
    said: () => said.join('\n'),
    /** Ends the player's tickets, groups and matches. */
    free: async (who: string) => {
      const me = await (await send(`TOKEN:${who}`, 'GET', '/me')).json()
      const { tickets, groups, matches } = me as {
        readonly tickets: readonly { readonly id: string }[]
        readonly groups: readonly { readonly group_id: string }[]
        readonly matches: readonly { readonly match_id: string }[]
      }
      for (const { id } of tickets) await send('TOKEN', 'DELETE', `/tickets/${id}`)
      for (const { group_id } of groups) await send('TOKEN', 'DELETE', `/groups/${group_id}`)
      for (const { match_id } of matches) await send('TOKEN', 'DELETE', `/matches/${match_id}`)
    },
    close: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

describe('`muster dev` without a file', () => {
  let dev: Awaited<ReturnType<typeof openDev>>
  beforeAll(async () => {
    dev = await openDev()
  })
  afterAll(() => dev.close())

  test.each(sequences)(
    '`muster dev` without a file plays the sequence of docs/game-clients.md: $title',
    async ({ steps }) => {
      for (const who of ['ann', 'ben']) await dev.free(who)
      await playAll(steps, dev.as)
      const [, sinceTheGreeting = ''] = dev.said().split('Ctrl-C')
      expect(sinceTheGreeting).not.toMatch(/^\S+ (warn|error)/m)
    },
  )

  test('`muster dev` without a file accepts any attributes of players in every queue', async () => {
    for (const profile of ['duel', 'ranked', 'social']) {
      const attributes = { skill: 1200, maps: ['ice'], colour: 'red' }
      const answer = await dev.as(`cas-${profile}`, 'POST', '/tickets', { profile, attributes, roles: ['tank'] })
      expect([profile, answer.status, await answer.json()]).toMatchObject([profile, 201, { status: 'SEARCHING' }])
    }
    expect(dev.said()).toContain('playerMayState')
  })

  test('`muster dev` without a file accepts players who connect to this machine', async () => {
    const body = { profile: 'duel', attributes: { skill: 9 } }
    for (const who of ['dan', 'eve']) await dev.as(who, 'POST', '/tickets', body)
    const link = async () => {
      const me = (await (await dev.as('dan', 'GET', '/me')).json()) as {
        readonly matches: readonly { readonly assignment?: { readonly ports: { readonly game: { link: string } } } }[]
      }
      return me.matches[0]?.assignment?.ports.game.link
    }
    await expect.poll(link).toMatch(/^localhost:\d+$/)
  })

  test('`muster dev` without a file accepts pages of any port of this machine, and of no other site', async () => {
    const allowed = async (origin: string) => {
      const answer = await dev.send('TOKEN:ann', 'GET', '/queues', undefined, origin)
      return answer.headers.get('access-control-allow-origin')
    }
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:8000', 'http://[::1]:3000', 'http://localhost'])
      expect(await allowed(origin)).toBe(origin)
    for (const origin of ['https://example.com', 'http://localhost.example.com:80', 'http://localhost:80@example.com'])
      expect(await allowed(origin)).toBeNull()
  })
})
