import type {
  Audit,
  FoundStories,
  KeyRow,
  PoolRow,
  QueueCards,
  ServerList,
  ServerRow,
  Story,
  TrialResult,
} from '@muster/console/internal'

/** Creates the stories of one match in the form in which the matchmaker reports them. */
export function foundOf(id: string, at: number, cancelled: ReadonlySet<string>): FoundStories {
  const stories = storiesAt(at, cancelled).filter((story) => story.id === id)
  return { id, stories, since: at - 3_600_000 }
}

function storiesAt(at: number, cancelled: ReadonlySet<string>): readonly Story[] {
  const isCancelled = cancelled.has('ticket-4711')
  const ticket: Story = {
    kind: 'ticket',
    id: 'ticket-4711',
    state: isCancelled ? 'cancelled by an operator' : 'searching for 41 s in ranked-5v5',
    cut: false,
    events: [
      {
        at: at - 95_000,
        what: 'created',
        text: 'In ranked-5v5, for 2 players.',
        refs: [{ kind: 'player', id: 'ann' }],
      },
      { at: at - 85_000, what: 'relaxed', text: 'Distance may be 2,000 km instead of 500 km.', refs: [] },
      {
        at: at - 72_000,
        what: 'found',
        text: 'With 8 others.',
        refs: [{ kind: 'match', id: 'match-7f3a91c2' }],
      },
      { at: at - 60_000, what: 'accepted', text: 'Both players accepted.', refs: [] },
      { at: at - 58_400, what: 'declined', text: 'Somebody else declined, so the match was given up.', refs: [] },
      { at: at - 58_300, what: 'returned', text: 'It waits on, with the time that it has waited already.', refs: [] },
      ...(isCancelled ? [{ at, what: 'cancelled', text: 'By ops-team, in the console.', refs: [] }] : []),
    ],
    explanation: isCancelled
      ? null
      : {
          summary: 'It waits for a healer: 214 others are near enough and of similar skill, and none of them may heal.',
          queues: [
            {
              queue: 'ranked-5v5',
              summary: 'roles stand in the way; they never relax.',
              rules: [
                { rule: 'distance', lets: 638, of: 912 },
                { rule: 'skill', lets: 301, of: 912 },
                { rule: 'roles', lets: 0, of: 912 },
              ],
            },
          ],
        },
    serverId: null,
    related: [
      { kind: 'player', id: 'ann' },
      { kind: 'player', id: 'ben' },
      { kind: 'match', id: 'match-7f3a91c2' },
    ],
    actions: isCancelled ? [] : ['cancel-ticket'],
  }
  const match: Story = {
    kind: 'match',
    id: 'match-7f3a91c2',
    state: 'runs on server-0af3 in Frankfurt, 10 players',
    cut: false,
    events: [
      {
        at: at - 72_000,
        what: 'found',
        text: 'Ten players for ranked-5v5.',
        refs: [4711, 4702, 4705, 4716, 4718, 4720].map((id) => ({ kind: 'ticket', id: `ticket-${id}` })),
      },
      {
        at: at - 57_000,
        what: 'deployed',
        text: 'A server was asked for near Frankfurt.',
        refs: [{ kind: 'server', id: 'server-0af3' }],
      },
      { at: at - 44_000, what: 'ready', text: 'The server is ready.', refs: [] },
      { at: at - 43_900, what: 'assigned', text: 'All players know where to connect.', refs: [] },
    ],
    explanation: null,
    serverId: null,
    related: [{ kind: 'server', id: 'server-0af3' }],
    actions: ['stop-match'],
  }
  const player: Story = {
    kind: 'player',
    id: 'ann',
    state: 'may not search for another 38 s',
    cut: true,
    events: [
      {
        at: at - 95_000,
        what: 'created',
        text: 'A ticket in ranked-5v5.',
        refs: [{ kind: 'ticket', id: 'ticket-4711' }],
      },
      { at: at - 20_000, what: 'left', text: 'Left a match before it started: a cooldown of a minute.', refs: [] },
    ],
    explanation: null,
    serverId: null,
    related: [{ kind: 'ticket', id: 'ticket-4711' }],
    actions: ['forgive-cooldown'],
  }
  const server: Story = {
    kind: 'server',
    id: 'c41d09',
    state: 'warm, without a match',
    cut: false,
    events: [
      {
        at: at - 340_000,
        what: 'deployed',
        text: 'The service accepted the server.',
        refs: [{ kind: 'server', id: 'c41d09' }],
      },
      { at: at - 319_000, what: 'registered', text: 'The server registered as build 1.4.2.', refs: [] },
      {
        at: at - 300_000,
        what: 'taken',
        text: 'A match took the server, which was warm.',
        refs: [{ kind: 'match', id: 'match-8c21d7e0' }],
      },
      {
        at: at - 62_000,
        what: 'freed',
        text: 'The match left its server: its server said that it is over.',
        refs: [{ kind: 'match', id: 'match-8c21d7e0' }],
      },
    ],
    explanation: null,
    related: [{ kind: 'match', id: 'match-8c21d7e0' }],
    serverId: 'w1',
    actions: ['drain-server'],
  }
  return [ticket, match, player, server]
}

export const duelYaml = `name: duel
matchSize: 2
rules:
  - kind: distance
    maxKm:
      - { afterMs: 0, value: 500 }
      - { afterMs: 10000, value: 2000 }
    optionalAfterMs: 60000
  - kind: difference
    attribute: skill
    max: 150
deploy:
  application: my-game
  version: "1.0"
`

export const cardsOf = (version: number, yaml: string): QueueCards => ({
  queues: [
    {
      name: 'duel',
      version,
      sentences: [
        'Two players make a match.',
        'They are within 500 km of one another at first, within 2,000 km after 10 s, and anywhere after 60 s.',
        'Their skill differs by 150 at first, and by up to 400 after 40 s.',
        'Each match is played on a server of my-game 1.0.',
      ],
      curves: [
        {
          rule: 'distance',
          unit: 'km',
          shape: 'steps',
          points: [
            { after: 0, limit: 500 },
            { after: 10_000, limit: 2000 },
            { after: 60_000, limit: null },
          ],
        },
        {
          rule: 'skill',
          unit: '',
          shape: 'steps',
          points: Array.from({ length: 21 }, (_, at) => ({ after: at * 2000, limit: 150 + at * 12.5 })),
        },
      ],
      yaml,
      fixed: null,
    },
    {
      name: 'ranked-5v5',
      version: 1,
      sentences: ['Two teams of five.', 'Each team has a tank and a healer.'],
      curves: [],
      yaml: 'name: ranked-5v5\nteams: [{ size: 5 }, { size: 5 }]\n',
      fixed: 'This queue was given by the program itself, and stands in no file.',
    },
    {
      name: 'social',
      version: 3,
      sentences: ['Four to twelve players make a match.'],
      curves: [],
      yaml: 'name: social\n',
      fixed: null,
    },
  ],
})

export const trialResult = (at: number): TrialResult => ({
  from: at - 3_600_000,
  to: at,
  tickets: 9184,
  missing: ['316 tickets came from before the change of 13:20, and were left out.'],
  asIs: {
    matches: 4410,
    matchedShare: 0.96,
    waitP50: 3200,
    waitP95: 9600,
    meanKm: 612,
    spreads: [{ attribute: 'skill', mean: 84.2 }],
  },
  changed: {
    matches: 4481,
    matchedShare: 0.976,
    waitP50: 2600,
    waitP95: 7100,
    meanKm: 874,
    spreads: [{ attribute: 'skill', mean: 84.9 }],
  },
  sentences: [
    'Half of the tickets would have waited 0.6 s less, and 71 more matches would have been made.',
    'Players of a match would have been 262 km further from one another.',
  ],
})

export function serversOf(at: number): ServerList {
  const row = (server: Partial<ServerRow>): ServerRow => ({
    id: 'match-7f3a91c2',
    requestId: '9a31c04f77e2',
    pool: null,
    source: null,
    queue: 'duel',
    matches: ['match-7f3a91c2'],
    listing: null,
    state: 'running',
    draining: null,
    mayDrain: false,
    isProcess: false,
    place: 'Frankfurt, Germany',
    host: '9a31c04f77e2.pr.example.com',
    players: 2,
    since: at - 754_000,
    cost: 0.0502,
    ...server,
  })
  const ofPool = (server: Partial<ServerRow>) =>
    row({ pool: 'arena', queue: null, matches: [], players: 0, mayDrain: true, ...server })
  const servers = [
    row({}),
    row({
      id: 'match-11b8',
      matches: ['match-11b8'],
      requestId: '51ffc0',
      host: '51ffc0.pr.example.com',
      since: at - 61_000,
      cost: 0.004,
    }),
    ofPool({ id: 'w1', requestId: 'c41d09', host: 'c41d09.pr.example.com', state: 'warm', since: at - 340_000 }),
    ofPool({
      id: 'w2',
      requestId: 'e07b55',
      host: 'e07b55.pr.example.com',
      state: 'playing',
      queue: 'ranked-5v5',
      matches: ['match-8c21d7e0', 'match-3e9902fa'],
      players: 20,
      since: at - 5_200_000,
      cost: 0.347,
    }),
    ofPool({
      id: 'w4',
      requestId: 'b09e12',
      host: 'b09e12.pr.example.com',
      state: 'playing',
      listing: { name: 'Night CTF, dust, no bots', seats: 16, taken: 11, held: 2 },
      players: 11,
      since: at - 3_400_000,
      cost: 0.227,
    }),
    ofPool({
      id: 'w3',
      requestId: '77aa31',
      host: '77aa31.pr.example.com',
      place: 'Stockholm, Sweden',
      state: 'draining',
      draining: 'operator',
      mayDrain: false,
      queue: 'ranked-5v5',
      matches: ['match-5550ac1b'],
      players: 9,
      since: at - 9_100_000,
      cost: 0.607,
    }),
    ofPool({
      id: 'e-4c1d',
      requestId: 'e-4c1d',
      source: 'enrolled',
      host: 'fra-1.example.com',
      place: 'Frankfurt',
      state: 'playing',
      queue: 'ranked-5v5',
      matches: ['match-9d10aa7e'],
      players: 10,
      since: at - 44_000_000,
      cost: 0,
    }),
    row({
      id: 'match-20d4',
      matches: ['match-20d4'],
      requestId: null,
      host: null,
      place: null,
      state: 'creating',
      since: at - 900,
    }),
  ]
  const pools: readonly PoolRow[] = [
    {
      pool: 'arena',
      place: 'Frankfurt',
      wanted: 4,
      warm: 3,
      starting: 1,
      playing: 46,
      draining: 0,
      asked: 1812,
      hits: 1779,
      expectedHit: 0.985,
      cameLastHour: 176,
      expectedPerHour: 181,
      idleHours: 31.2,
      idleCost: 7.49,
    },
    {
      pool: 'arena',
      place: 'Stockholm',
      wanted: 0,
      warm: 0,
      starting: 0,
      playing: 2,
      draining: 1,
      asked: 0,
      hits: 0,
      expectedHit: null,
      cameLastHour: 0,
      expectedPerHour: 0,
      idleHours: 0,
      idleCost: 0,
    },
    {
      pool: 'tournament-finals',
      place: 'São Paulo',
      wanted: 2,
      warm: 2,
      starting: 0,
      playing: 0,
      draining: 0,
      asked: 12,
      hits: 9,
      expectedHit: 0.96,
      cameLastHour: 3,
      expectedPerHour: 11,
      idleHours: 0.4,
      idleCost: 0.1,
    },
  ]
  const sources = [
    { source: null, servers: 7, draining: 1 },
    { source: 'enrolled', servers: 1, draining: 0 },
  ]
  const allowed = { servers: 40, matches: 4, builds: ['1.4.2'] }
  const keys: readonly KeyRow[] = [
    { key: '9f86d081', pool: 'arena', place: 'Frankfurt', servers: 1, allowed, builds: ['1.4.2'] },
    {
      key: '60303ae2',
      pool: 'arena',
      place: 'Stockholm',
      servers: 0,
      allowed: { ...allowed, builds: null },
      builds: [],
    },
    { key: 'fd61a03a', pool: 'arena', place: 'Frankfurt', servers: 2, allowed: null, builds: ['1.4.1', '1.4.2'] },
  ]
  return { at, total: 8, players: 56, cost: 1.2854, currency: 'EUR', pools, sources, keys, servers }
}

export const auditOf = (at: number): Audit => ({
  acts: [
    { at: at - 9000, who: 'olga', what: 'stop-match', id: 'match-7f3a91c2' },
    { at: at - 65_000, who: 'olga', what: 'apply-queue', id: 'duel' },
    { at: at - 7_200_000, who: 'ops-team', what: 'let-bots-in', id: '500' },
  ],
})
