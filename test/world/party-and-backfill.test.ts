/** Tests a party and a backfill with clients and servers that were made for another matchmaker. */
import { bearerToken, clientAddress } from '@muster/core/http'
import { expect, test } from 'vitest'
import { nothingLeft, until } from '../matchmaker/studio.js'
import { openCounter } from '../ticket-api/counter.js'
import { createSdkClient, type SdkClient, type SdkMember } from './sdk-client.js'

const deploy = { application: 'game', version: '1', readyTimeoutMs: 4000 }
const queue = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 2 }],
  playerMayState: ['latencies', 'elo'],
  deploy,
}

/** Starts the API. All players share one token. */
const open = () =>
  openCounter({
    studio: { matchmaker: { queues: [queue] } },
    api: {
      authenticate: (request) => {
        const token = bearerToken(request)
        if (token === 'backend') return { id: token, role: 'backend' }
        return token === 'everyone' ? { id: 'shared', sharedKey: 'a key of at least 32 characters' } : undefined
      },
      address: clientAddress({ trustedProxies: ['127.0.0.0/8'] }),
    },
  })

interface MatchTicket {
  readonly id: string
  readonly group_id: string
  readonly team_id: string
  readonly attributes: { readonly elo: number }
}

/** Returns the match as a server for the other matchmaker reads it from its environment. */
function matchIn(environment: Readonly<Record<string, string>>) {
  const read = <T>(name: string) => JSON.parse(environment[name] ?? '') as T
  const tickets = read<string[]>('MM_TICKET_IDS').map((id) => read<MatchTicket>(`MM_TICKET_${id}`))
  return {
    tickets,
    groups: read<Readonly<Record<string, string[]>>>('MM_GROUPS'),
    teams: read<Readonly<Record<string, string[]>>>('MM_TEAMS'),
  }
}

async function memberPlays(client: SdkClient, member: SdkMember) {
  let now = member
  await until('the member has a ticket', () => {
    void client.readMember(member).then((read) => (now = read))
    return now.ticket_id !== null
  })
  return client.untilAssigned(now.ticket_id ?? '')
}

test('SDK clients see a party as single tickets with group and team, and a backfill ticket as ASSIGNED', async () => {
  const { url, call, emulator, deployments, matchmaker, shut } = await open()
  const clients = [1, 2, 3, 4, 5].map((nth) =>
    createSdkClient({ url, token: 'everyone', address: `192.0.2.${nth}` }),
  ) as [SdkClient, SdkClient, SdkClient, SdkClient, SdkClient]
  const [ann, ben, cas, dan, eve] = clients
  const owner = await ann.createGroup('ranked', { elo: 1 }, false)
  const friend = await ben.joinGroup(owner.group_id, 'ranked', { elo: 2 }, true)
  await ann.setReady(owner, true)
  const [third, fourth] = await Promise.all([
    cas.createTicket('ranked', { elo: 3 }),
    dan.createTicket('ranked', { elo: 4 }),
  ])
  const assigned = await Promise.all([
    memberPlays(ann, owner),
    memberPlays(ben, friend),
    cas.untilAssigned(third.id),
    dan.untilAssigned(fourth.id),
  ])

  const environment = emulator.environment(deployments()[0]?.request_id ?? '') ?? {}
  const { tickets, groups, teams } = matchIn(environment)
  expect(tickets.map(({ id }) => id).toSorted()).toEqual(assigned.map(({ id }) => id).toSorted())
  for (const own of assigned) {
    const ticket = tickets.find(({ id }) => id === own.id)
    expect(ticket).toMatchObject({ group_id: own.group_id, team_id: own.team_id })
    expect(groups[own.group_id]).toContain(own.id)
    expect(teams[own.team_id ?? '']).toContain(own.group_id)
  }
  expect(tickets.map(({ attributes }) => attributes.elo).toSorted()).toEqual([1, 2, 3, 4])
  expect(JSON.stringify(environment)).not.toContain('192.0.2.')

  // Two players have left. The server sends the tickets of the others, as it has read them.
  const present = tickets.filter(({ attributes }) => attributes.elo <= 2)
  const backfill = {
    profile: 'ranked',
    attributes: { assignment: assigned[0].assignment },
    tickets: Object.fromEntries(present.map((ticket) => [ticket.id, ticket])),
  }
  interface Backfill {
    readonly id: string
    readonly status: string
    readonly assigned_ticket: { readonly id: string } | null
  }
  const asked = await call<Backfill>('backend', 'POST', '/backfills', backfill)
  expect(asked).toMatchObject({ status: 'SEARCHING', assigned_ticket: null })
  const joining = await eve.createTicket('ranked', { elo: 5 })
  const joined = await eve.untilAssigned(joining.id)
  expect(joined.assignment?.ports).toEqual(assigned[0].assignment?.ports)
  expect(await call<Backfill>('backend', 'GET', `/backfills/${asked.id}`)).toMatchObject({
    status: 'ASSIGNED',
    assigned_ticket: { id: joining.id },
  })
  expect(matchmaker.inspect().matches[0]?.playerIds).toHaveLength(3)
  await matchmaker.stopMatch(assigned[0].match_id ?? '')
  expect(await shut()).toEqual(nothingLeft)
})
