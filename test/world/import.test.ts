/**
 * Imports a configuration of the hosted matchmaker, serves it, and plays it with a client that behaves like its SDKs.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { readConfigText, startServer } from '@muster/server'
import { runProgram, terminalOf } from '@muster/server/internal'
import { expect, onTestFinished, test } from 'vitest'
import { publishGame } from '../matchmaker/game.js'
import { createSdkClient } from './sdk-client.js'

const application = { name: 'game', version: '1' }
const theirs = {
  version: '3.3.2',
  profiles: {
    'ranked-2v2': {
      ticket_expiration_period: '5m',
      application,
      rules: {
        initial: {
          match_size: { type: 'player_count', attributes: { team_count: 2, min_team_size: 2, max_team_size: 2 } },
          beacons: { type: 'latencies', attributes: { difference: 100, max_latency: 200 } },
          elo_rating: { type: 'number_difference', attributes: { max_difference: 50 } },
          selected_game_mode: { type: 'string_equality' },
          selected_map: { type: 'intersection', attributes: { overlap: 1 } },
        },
        expansions: { '30': { beacons: { max_latency: 300 } }, '90': { match_size: { min_team_size: 1 } } },
      },
    },
  },
}

const env = {
  MUSTER_TOKEN: 'dev-token-of-the-account',
  MUSTER_PLAYER_TOKEN: 'token-of-all-players',
  MUSTER_PLAYER_KEY: 'a-secret-of-at-least-32-characters',
  MUSTER_BACKEND_KEY: 'backend-key-of-the-game',
  MUSTER_OPERATOR_KEY: 'operate-key-of-live-ops',
}

/** Imports the configuration, and serves it over an emulator of the service. */
async function openImported() {
  const folder = await mkdtemp(join(tmpdir(), 'muster-import-'))
  const emulator = createEmulator({ token: env.MUSTER_TOKEN, speed: 50 })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: env.MUSTER_TOKEN })
  await publishGame(client)
  await client.close()
  await writeFile(join(folder, 'theirs.json'), JSON.stringify(theirs))
  const stream = { write: () => true }
  const terminal = terminalOf({ stdout: stream, stderr: stream, env: {}, cwd: () => folder })
  expect(await runProgram(['import', 'edgegap', 'theirs.json'], terminal)).toBe(0)
  const path = join(folder, 'muster.yaml')
  const text = (await readFile(path, 'utf8')).replace('https://api.example.com', url).replace('port: 8080', 'port: 0')
  const { config, warnings } = await readConfigText(text, { path, env })
  expect(warnings).toEqual([])
  const server = await startServer(config, { write: () => {} })
  onTestFinished(async () => {
    await server.close()
    await emulator.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { server, emulator }
}

test('an imported configuration works with unchanged clients of the SDKs, which share one token', async () => {
  const { server, emulator } = await openImported()
  const play = async (index: number) => {
    const client = createSdkClient({ url: server.url, token: env.MUSTER_PLAYER_TOKEN, address: '' })
    const { beacons } = await client.beacons()
    const { id } = await client.createTicket('ranked-2v2', {
      beacons: { [beacons[0]?.location.city ?? '']: 30.5 },
      elo_rating: 1000 + index,
      selected_game_mode: 'quickplay',
      selected_map: ['Airport', `map-${index}`],
    })
    return client.untilAssigned(id)
  }
  const assigned = await Promise.all([0, 1, 2, 3].map(play))
  expect(new Set(assigned.map(({ match_id }) => match_id)).size).toBe(1)
  expect(assigned.map(({ team_id }) => team_id).toSorted()).toEqual(['team-1', 'team-1', 'team-2', 'team-2'])
  const [running] = emulator.inspect().deployments
  const environment = emulator.environment(running?.request_id ?? '')
  expect(environment?.['MM_EQUALITY']).toBe('{"selected_game_mode":"quickplay"}')
  expect(environment?.['MM_INTERSECTION']).toBe('{"selected_map":["Airport"]}')
})
