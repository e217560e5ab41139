import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { defaultGameServerSettings, simulatedGameServers } from './simulated-game-servers.js'

/**
 * Runs a game server whose requests get these responses one after another. Later requests get the last response again.
 */
async function play(...answers: readonly (string | number)[]) {
  const clock = createManualClock()
  const asked: string[] = []
  const launch = simulatedGameServers(defaultGameServerSettings, {
    clock,
    random: seededRandom(1),
    speed: 1,
    fetch: async (url, { method, signal }) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)]
      asked.push(`${method} ${new URL(url).pathname}`)
      // Without this pause, a server that reports continuously would never let the clock advance.
      await clock.sleep(10, signal ?? undefined)
      return typeof answer === 'number' ? new Response(null, { status: answer }) : new Response(answer)
    },
  })
  const env = { MUSTER_URL: 'https://muster.example.com', MUSTER_SERVER_TOKEN: 'token' }
  const container = await launch({ request_id: 'r1', image: 'game', command: null, arguments: null, env, ports: [] })
  if (container === undefined) throw new Error('no server was launched')
  let exitCode: number | undefined
  void container.exited.then((code) => (exitCode = code))
  return { clock, asked, container, exitCode: () => exitCode }
}

const orders = (want: string) => JSON.stringify({ version: 1, want, matches: [] })

test('a simulated game server continues after unreadable answers, and keeps only the latest log lines', async () => {
  const { clock, asked, container, exitCode } = await play(orders('run'), '<html>', 502)
  await clock.advance(10_000)
  expect(asked.slice(0, 4)).toEqual(['POST /servers', 'PUT /servers/me', 'PUT /servers/me', 'PUT /servers/me'])
  expect(exitCode()).toBeUndefined()
  expect(container.logs()).toContain('Muster answers 502\n')
  await clock.advance(300_000)
  expect(container.logs().split('\n')).toHaveLength(201)
  container.stop(0)
  await clock.advance(1)
  expect(exitCode()).toBe(0)
})

test.each([
  ['want: stop', orders('stop')],
  ['410', 410],
] as const)('a simulated game server ends on %s', async (_, answer) => {
  const { clock, asked, exitCode } = await play(orders('run'), answer)
  await clock.advance(60_000)
  expect(exitCode()).toBe(0)
  expect(asked).toEqual(['POST /servers', 'PUT /servers/me'])
})
