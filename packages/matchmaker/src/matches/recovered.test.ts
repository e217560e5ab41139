import { expect, test } from 'vitest'
import { createMemoryServerLog } from '@muster/hosting/internal'
import { InvalidBackfill } from '../errors.js'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

const social: QueueDefinition = {
  name: 'duel',
  teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
  fillForMs: 0,
  deploy,
}

/** Continues a match of ann against ben from an earlier process. This process knows it only from the store. */
async function recovered(queue: Partial<QueueDefinition> = {}, now: Partial<QueueDefinition> = {}) {
  const serverLog = createMemoryServerLog()
  const earlier = setUp({ serverLog, queues: [{ ...social, ...queue }] })
  earlier.join('ann')
  earlier.join('ben')
  await earlier.run(6500)
  const { matchId = '', assignment } = earlier.matchmaker.getTicket('ann') ?? {}
  expect(assignment).toBeDefined()
  const { clock, service } = earlier
  const later = setUp({ serverLog, clock, deployments: service.deployments, queues: [{ ...social, ...queue, ...now }] })
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await later.matchmaker.tick()
      await clock.advance(250)
    }
  }
  await run(250)
  return { ...later, clock, service, run, serverLog, matchId, assignment }
}

test('a match from before a restart loses player after player, and the last player stops the server', async () => {
  const { matchmaker, service, seen, run, serverLog, matchId } = await recovered()
  matchmaker.playersLeft(matchId, ['ann', 'nobody'])
  expect(seen.playersLeft).toEqual([{ matchId, queue: 'duel', playerIds: ['ann'], remaining: 1 }])
  await run(1000)
  expect(await serverLog.open()).toMatchObject({ matches: [{ matchId, playerIds: ['ben'] }] })
  expect(service.unstopped()).toEqual(['r1'])
  matchmaker.playersLeft(matchId, ['ben'])
  await run(3000)
  expect(seen.deploymentStopped).toMatchObject([{ matchId, requestId: 'r1', reason: 'left' }])
  expect(service.unstopped()).toEqual([])
})

test.each([
  ['no teams', undefined],
  ['a team without players', [{ name: 'side-1' }]],
])(
  'a backfill of a match from before a restart is refused if it names no players of its teams: %s',
  async (_, teams) => {
    const { matchmaker, matchId } = await recovered()
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(InvalidBackfill)
    expect(() => matchmaker.createBackfill({ matchId, teams })).toThrow(/teams.*after a restart/)
  },
)

test('after a restart, a match is backfilled by a team’s present players or by its free slots', async () => {
  const { matchmaker, seen, join, run, matchId, assignment } = await recovered()
  const teams = [
    { name: 'side-1', players: [{ id: 'ann' }] },
    { name: 'side-2', slots: 0 },
  ]
  const { id } = matchmaker.createBackfill({ matchId, teams })
  join('cas')
  await run(250)
  expect(matchmaker.getTicket('cas')).toMatchObject({ status: 'HOST_ASSIGNED', matchId, assignment, team: 'side-1' })
  expect(matchmaker.getBackfill(id)).toMatchObject({ status: 'FILLED', tickets: ['cas'] })
  matchmaker.createBackfill({ matchId, teams: [{ name: 'side-2', slots: 1 }] })
  join('dee')
  await run(250)
  expect(matchmaker.getTicket('dee')).toMatchObject({ status: 'HOST_ASSIGNED', matchId, team: 'side-2' })
  expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'ben', 'cas', 'dee'])
  matchmaker.playersLeft(matchId, ['ann', 'ben', 'cas', 'dee'])
  await run(3000)
  expect(seen.deploymentStopped).toMatchObject([{ matchId, reason: 'left' }])
})

test('a backfill update after a restart must state the players of each team that it changes', async () => {
  const { matchmaker, matchId } = await recovered()
  const { id } = matchmaker.createBackfill({ matchId, teams: [{ name: 'side-2', slots: 1 }] })
  expect(() => matchmaker.updateBackfill(id, { version: 1, teams: [{ name: 'side-1' }] })).toThrow(
    /teams\.0: .*after a restart/,
  )
  const { teams } = matchmaker.updateBackfill(id, { version: 1, teams: [{ name: 'side-1', players: [{ id: 'ann' }] }] })
  expect(teams).toEqual([
    { name: 'side-1', slots: 1, players: ['ann'] },
    { name: 'side-2', slots: 0, players: [] },
  ])
})

test('after a restart the players of a match with a single team need not be stated in a backfill', async () => {
  const { matchmaker, join, run, matchId } = await recovered({ teams: [{ name: 'all', size: { min: 2, max: 4 } }] })
  matchmaker.playersLeft(matchId, ['ben'])
  const { id, teams } = matchmaker.createBackfill({ matchId })
  expect(teams).toEqual([{ name: 'all', slots: 3, players: ['ann'] }])
  join('cas')
  join('dee')
  await run(250)
  matchmaker.playersLeft(matchId, ['ann', 'cas'])
  expect(matchmaker.getBackfill(id)).toMatchObject({ status: 'OPEN', teams: [{ slots: 3, players: ['dee'] }] })
  matchmaker.cancelBackfill(id)
  expect(matchmaker.createBackfill({ matchId }).teams).toEqual([{ name: 'all', slots: 3, players: ['dee'] }])
})

test('after a restart a backfill must have the attributes of present players that rules compare', async () => {
  const { matchmaker, matchId } = await recovered(
    { teams: [{ name: 'all', size: { min: 2, max: 4 } }] },
    { rules: [{ kind: 'difference', attribute: 'skill', max: 10 }] },
  )
  expect(() => matchmaker.createBackfill({ matchId })).toThrow('players.0.attributes.skill')
  const teams = [
    {
      name: 'all',
      players: [
        { id: 'ann', attributes: { skill: 1 } },
        { id: 'ben', attributes: { skill: 2 } },
      ],
    },
  ]
  expect(matchmaker.createBackfill({ matchId, teams }).teams).toEqual([
    { name: 'all', slots: 2, players: ['ann', 'ben'] },
  ])
})

test('after a restart the secret of a server identifies it as the server of its own match only', async () => {
  const serverLog = { ...createMemoryServerLog(), resumes: true }
  const serverSecret = 'a'.repeat(32)
  const earlier = setUp({ serverLog, queues: [social], serverSecret })
  const ids = Array.from({ length: 8 }, (_, index) => `p${index}`)
  for (const id of ids) earlier.join(id)
  await earlier.run(6500)
  const [own = '', other = ''] = new Set(ids.map((id) => earlier.matchmaker.getTicket(id)?.matchId ?? ''))
  const { clock, service } = earlier
  const secretOf = (matchId: string) => {
    const create = service.calls.create.find(({ tags }) => tags?.includes(`match-${matchId}`))
    return create?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  }
  const { matchmaker } = setUp({ serverLog, clock, deployments: service.deployments, queues: [social], serverSecret })
  await matchmaker.tick()
  const secret = secretOf(own)
  expect([secret, other]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)])
  expect([matchmaker.isSecretOf(own, secret), matchmaker.isServerSecret(secret)]).toEqual([true, true])
  expect([matchmaker.isSecretOf(other, secret), matchmaker.isSecretOf(own, secretOf(other))]).toEqual([false, false])
})
