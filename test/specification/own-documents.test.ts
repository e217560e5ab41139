import { createClient, inProcess } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import type { HttpHandler } from '@muster/core/http'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { createLobbies, createLobbyApi, createRelaySessions } from '@muster/relay'
import { expect, onTestFinished, test } from 'vitest'

const clock = createManualClock()
const client = createClient({
  baseUrl: 'http://service.invalid',
  token: 'token',
  clock,
  dispatcher: inProcess(() => expect.unreachable('a document needs no service')),
})
const nobody = () => undefined

/** Returns the document that an API serves at /openapi.json. It must equal the file in docs. */
async function documentOf(api: HttpHandler): Promise<string> {
  const response = await api(new Request('http://localhost/openapi.json'))
  expect(response.status).toBe(200)
  return `${JSON.stringify(await response.json(), null, 2)}\n`
}

test('docs/ticket-api.openapi.json is the document of the ticket API, which `pnpm openapi` writes', async () => {
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    clock,
    queues: [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }],
  })
  onTestFinished(() => void clock.until(matchmaker.close()))
  await expect(await documentOf(createTicketApi(matchmaker, { authenticate: nobody }))).toMatchFileSnapshot(
    '../../docs/ticket-api.openapi.json',
  )
})

test('docs/lobby-api.openapi.json is the document of the lobby API, which `pnpm openapi` writes', async () => {
  const relay = createRelaySessions({ client: client.relays, clock })
  const lobbies = createLobbies({ relay, clock })
  await expect(await documentOf(createLobbyApi(lobbies, { authenticate: nobody }))).toMatchFileSnapshot(
    '../../docs/lobby-api.openapi.json',
  )
})
