import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { gatherFaults } from './api.fixture.js'
import { createLobbies } from './lobbies.js'
import { createMachine, type MachineInput, type Output } from './machine.js'
import { createMuster } from './muster.js'
import { oddAnswers } from './odd-answers.fixture.js'
import { createServers } from './servers.js'

/** Responses that Muster never gives, in the format of `transcript.jsonl`. The engines replay them too. */
const PATH = new URL('../../../engines/odd-answers.jsonl', import.meta.url)

const assignment = {
  fqdn: 'game.example',
  ports: { game: { internal: 1, external: 2, link: 'game.example:2', protocol: 'UDP' } },
  location: { city: 'Paris' },
  join_token: 'a.b.c',
}
const ticket = {
  id: 't1',
  profile: 'duel',
  status: 'SEARCHING',
  version: 1,
  group_id: 'g1',
  match_id: 'm1',
  acceptance: { accepted: false, until: '2026-11-26T12:00:10.000Z' },
  estimated_wait: { p50_seconds: 5, p90_seconds: 9 },
}
const member = { group_id: 'g1', member_id: 'p1', is_ready: false, status: 'FORMING', ticket_id: null }
const nothing = { tickets: [], groups: [], matches: [], seats: [] }
/** Valid responses to `GET /me`, to a search, and to a group request. */
const ANSWERS: Readonly<Record<string, { readonly asked: readonly MachineInput[]; readonly good: unknown }>> = {
  'what the player is in': {
    asked: [{ do: 'resume', command: 1 }],
    good: {
      tickets: [ticket],
      groups: [member],
      matches: [{ match_id: 'm1', assignment }],
      seats: [{ seat_id: 's1', status: 'held', assignment }],
    },
  },
  'a search': {
    asked: [{ do: 'play', command: 1, request: { profile: 'duel' } }],
    good: { ...ticket, status: 'MATCH_FOUND' },
  },
  'a search that has ended': {
    asked: [{ do: 'play', command: 1, request: { profile: 'duel' } }],
    good: { ...ticket, status: 'CANCELLED', cancel_reason: 'expired', ended: { reason: 'over' } },
  },
  'a group': { asked: [{ do: 'group', command: 1, request: { profile: 'duel' } }], good: member },
  'the members of a group': {
    asked: [
      { do: 'group', command: 1, request: { profile: 'duel' } },
      { answer: 1, status: 201, body: member },
    ],
    good: { status: 'FORMING', members: [{ player_id: 'ann', is_ready: true }] },
  },
}

type Line =
  | { readonly session: string }
  | { readonly at: number; readonly in: MachineInput }
  | { at: number; out: Output }

function record(): Line[] {
  const lines: Line[] = []
  for (const [what, { asked, good }] of Object.entries(ANSWERS))
    for (const body of [good, ...oddAnswers(good)]) {
      const machine = createMachine(() => 0.5)
      lines.push({ session: `an answer has an odd shape: ${what}` })
      const request = asked.filter((input) => 'answer' in input).length + 1
      for (const input of [...asked, { answer: request, status: 200, body }]) {
        lines.push({ at: 0, in: input })
        lines.push(...machine.step(input, 0).map((out) => ({ at: 0, out })))
      }
    }
  return lines
}

test('an answer whose JSON has the wrong shape counts as lost, in the client machine of every language', async () => {
  const lines = record()
  expect(lines.length).toBeGreaterThan(1000)
  // A request that arrived too slowly had no effect, so it is sent again.
  lines.push({ session: 'Muster does not wait for a slow body any more' })
  const slow = createMachine(() => 0.5)
  for (const one of [
    { do: 'play', command: 1, request: { profile: 'duel' } },
    { answer: 1, status: 408, body: { code: 'body-too-slow', message: 'the body did not come' } },
  ] satisfies MachineInput[])
    lines.push({ at: 0, in: one }, ...slow.step(one, 0).map((out) => ({ at: 0, out })))
  expect(lines.at(-1)).toEqual({ at: 0, out: { wakeAt: 250 } })
  // A header that asks for a pause of years is treated like a pause of an hour.
  const machine = createMachine(() => 0.5)
  const input: MachineInput[] = [
    { do: 'play', command: 1, request: { profile: 'duel' } },
    { answer: 1, status: 503, retryAfterMs: 3e12 },
  ]
  lines.push({ session: 'Muster asks for a pause of years' })
  for (const one of input) lines.push({ at: 0, in: one }, ...machine.step(one, 0).map((out) => ({ at: 0, out })))
  expect(lines.at(-1)).toEqual({ at: 0, out: { wakeAt: 3_600_000 } })
  await expect(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`).toMatchFileSnapshot(PATH.pathname)
})

test.each([...oddAnswers({ tickets: [ticket], groups: [], matches: [] })].slice(0, 12).concat([5, 'x', [], null]))(
  '`resume` rejects, and the client state is stale, if Muster answers %j',
  async (body) => {
    const faults = gatherFaults()
    const clock = createManualClock()
    const text = JSON.stringify(body)
    const fetch = () => Promise.resolve(new Response(text, { headers: { 'content-type': 'application/json' } }))
    const muster = createMuster({ url: 'http://play.example', follow: 'poll', fetch, clock, random: () => 0.5 })
    const resumed = muster.resume().catch((error: unknown) => error)
    await clock.advance(0)
    if (typeof body === 'object' && body !== null)
      expect(await resumed).toMatchObject({ name: 'MusterError', code: 'wrong-answer', status: 0 })
    await clock.advance(60_000)
    expect(muster.state).toEqual({ phase: 'idle', stale: expect.any(Number) })
    muster.close()
    expect(faults).toEqual([])
  },
)

const LOBBY = {
  lobbyId: 'l1',
  code: 'ABC',
  phase: 'open',
  maxPlayers: 4,
  hostId: 'ann',
  members: [{ playerId: 'ann', slot: 0, present: true, ready: false, data: {} }],
  data: {},
  run: null,
}
test('each call of servers and lobbies is refused with `wrong-answer` if the answer has a wrong shape', async () => {
  const faults = gatherFaults()
  const clock = createManualClock()
  let body: unknown
  const fetch = () => Promise.resolve(new Response(JSON.stringify(body)))
  const muster = createMuster({ url: 'http://play.example', follow: 'poll', fetch, clock, random: () => 0.5 })
  const servers = createServers(muster)
  const lobbies = createLobbies(muster)
  const calls = [
    () => servers.list(),
    () => servers.join('s1'),
    () => servers.quickJoin(),
    () => servers.start('pool'),
    () => lobbies.create({ maxPlayers: 4 }),
    () => lobbies.join('ABC'),
    () => lobbies.open('l1'),
  ]
  for (body of [[], { servers: 5 }, { seats: [{}] }, { seats: [] }, { ...LOBBY, members: [null] }, nothing])
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'wrong-answer', status: 0 })
  body = LOBBY
  const lobby = await lobbies.open('l1')
  for (body of [{ messages: 5 }, { messages: [null], cursor: 1, over: false }]) await clock.advance(40_000)
  expect(lobby.state).toMatchObject({ phase: 'open', left: null })
  lobby.close()
  muster.close()
  expect(faults).toEqual([])
})
