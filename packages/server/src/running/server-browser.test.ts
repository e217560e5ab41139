import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { BACKEND_KEY, configOf, openService, yamlOf } from './server.fixture.js'
import { startServer } from './start-server.js'

const page = readFileSync(new URL('../../../../docs/servers.md', import.meta.url), 'utf8')
const [, SECTION = ''] = /```yaml\n(browser:\n[^]*?)```/.exec(page) ?? []

const QUEUES = '\n  - { name: duel, matchSize: 2, pool: arena }\n'
const POOLS = `
listen: { port: 0, publicUrl: 'http://127.0.0.1:1' }
pools:
  - name: arena
    deploy: { application: my-game, version: '1.0' }
    places: [{ name: Frankfurt, latitude: 50.1, longitude: 8.7 }]
    at: [{ cron: '* * * * *', minutes: 2, min: 1 }]
`

test('players can filter the server list by the attributes declared in docs/servers.md', async () => {
  const { emulator, url } = await openService()
  const text = yamlOf(url, `${POOLS}${SECTION}`, QUEUES).replace('listen: { port: 0 }\n', '')
  const server = await startServer(await configOf(text), { write: () => {} })
  try {
    const created = () => emulator.inspect().deployments[0]?.request_id ?? ''
    await expect.poll(created).not.toBe('')
    const token = emulator.environment(created())?.['MUSTER_SERVER_TOKEN'] ?? ''
    const ask = async (method: string, path: string, bearer: string, body?: object) => {
      const headers = { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) }
      return (await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json()
    }
    await ask('POST', '/servers', token, { instance: 'first' })
    let seq = 0
    const report = () => {
      seq += 1
      const listing = { name: 'Night CTF', seats: 16, attributes: { mode: 'ctf', rank: seq } }
      return ask('PUT', '/servers/me', token, { instance: 'first', seq, listing })
    }
    const found = (where: string) => ask('GET', `/servers?where=${encodeURIComponent(where)}`, BACKEND_KEY)
    // A report lists the server only once its address is known.
    await expect
      .poll(() => report().then(() => found('mode eq ctf')))
      .toMatchObject({ servers: [{ name: 'Night CTF' }] })
    expect(await found(`rank gt ${seq}`)).toMatchObject({ servers: [] })
    expect(await found('mode eq race')).toMatchObject({ message: expect.stringContaining('must be one of ctf, dm') })
  } finally {
    await server.close()
    await emulator.close()
  }
})
