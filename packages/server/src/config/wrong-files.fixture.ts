/** An invalid configuration with all of its findings: `line:column field: message`. */
export interface WrongFile {
  readonly what: string
  readonly text: string
  readonly says: readonly string[]
}

export const SERVICE = 'service: { url: https://service.example, token: { env: TOKEN } }'
export const QUEUES = `queues:
  - name: duel
    matchSize: 2
    deploy: { application: game, version: '1' }`
export const BASE = `${SERVICE}\n${QUEUES}\n`
const POOL = "pools:\n  - name: arena\n    deploy: { application: game, version: '1' }"
const DEPLOY = "deploy: { application: game, version: '1' }"
const RULE = (rule: string) => `${SERVICE}
queues:
  - name: duel
    matchSize: 2
    rules:
      - ${rule}
    ${DEPLOY}
`

const ORIGIN =
  'must be an origin without a path, e.g. https://play.example.com; https://*.example.com for each subdomain; ' +
  'http://localhost:* for each port; or * for each page'

export const WRONG_FILES: readonly WrongFile[] = [
  { what: 'an empty file', text: '', says: ['1:1 : is empty: `muster init` writes a configuration to begin with'] },
  {
    what: 'only comments',
    text: '# to do\n',
    says: ['1:1 : is empty: `muster init` writes a configuration to begin with'],
  },
  { what: 'only a string', text: 'hello\n', says: ['1:1 : must be names with values, got a text'] },
  {
    what: 'numbers below their minimum',
    text: BASE.replace('matchSize: 2', 'matchSize: 2\n    targetWaitMs: 0\n    fillForMs: -1'),
    says: [
      '5:19 queues.0.targetWaitMs: must be at least 1000, got 0',
      '6:16 queues.0.fillForMs: must be at least 0, got -1',
    ],
  },
  { what: 'a list', text: '- a\n- b\n', says: ['1:1 : must be names with values, got a list'] },
  { what: 'no queue', text: `${SERVICE}\n`, says: ['1:1 queues: is missing'] },
  { what: 'an empty list of queues', text: `${SERVICE}\nqueues: []\n`, says: ['2:9 queues: must not be empty'] },
  {
    what: 'an unknown section',
    text: `${BASE}teleport: { enabled: true }\nspendings: {}\n`,
    says: ['6:1 teleport: is not known', '7:1 spendings: is not known; did you mean spending?'],
  },
  {
    what: 'a misspelt field',
    text: `${BASE}spending:\n  maxServer: 5\n  maxStating: 7\n`,
    says: [
      '7:3 spending.maxServer: is not known; did you mean maxServers?',
      '8:3 spending.maxStating: is not known; did you mean maxStarting?',
    ],
  },
  {
    what: 'unknown and impossible settings of the service',
    text: BASE.replace(
      'token: { env: TOKEN } }',
      'token: { env: TOKEN }, settings: { createDeployPath: /x, createDeploymentPath: v2, ' +
        'valueLimits: { port: { min: 9, max: 1 } } } }',
    ),
    says: [
      '1:77 service.settings.createDeployPath: is not known; did you mean createDeploymentPath?',
      '1:121 service.settings.createDeploymentPath: must be a path: a slash, then letters, digits, - _ . ~ and /, ' +
        'got "v2"',
      '1:146 service.settings.valueLimits.port: must not have a min above its max',
    ],
  },
  {
    what: 'CORS origins that no browser sends',
    text: `${BASE}cors: { origins: ['https://*.example.com', 'https://a.*.com', '*.example.com'] }\n`,
    says: [
      `6:44 cors.origins.1: ${ORIGIN}, got a text of 15 characters`,
      `6:63 cors.origins.2: ${ORIGIN}, got "*.example.com"`,
    ],
  },
  {
    what: 'misspelt required fields',
    text: `${BASE.replace('matchSize', 'matchSise')}auth:\n  jwt: { jwkz: 'https://id.example/keys' }\n`,
    says: [
      '4:5 queues.0.matchSise: is not known; did you mean matchSize?',
      '7:10 auth.jwt.jwkz: is not known; did you mean jwks?',
    ],
  },
  {
    what: 'a section that is empty',
    text: `${BASE}spending:\n  # maxServers: 5\nconsole:\n`,
    says: [
      '6:1 spending: is empty: remove it, or give it a value',
      '8:1 console: is empty: remove it, or give it a value',
    ],
  },
  {
    what: 'two listeners on one port',
    text: `${BASE}listen: { host: 0.0.0.0, port: 9090, admin: 127.0.0.1:9090 }\n`,
    says: ['6:45 listen.admin: must not be the address and port of the first listener, got "[address]:9090"'],
  },
  {
    what: 'an admin listener without a host',
    text: `${BASE}listen: { admin: ':9090' }\n`,
    says: ['6:18 listen.admin: must be an address and a port, e.g. localhost:9090, got ":9090"'],
  },
  {
    what: 'URLs with a query, to which paths are appended',
    text: `${BASE}listen: { publicUrl: 'https://mm.example/?a=b' }
sources: { metal: { allocator: 'https://hoster.example#a', secret: { env: METAL } } }\n`,
    says: [
      '6:22 listen.publicUrl: must have neither query nor fragment, got a text',
      '7:32 sources.metal.allocator: must have neither query nor fragment, got a text',
    ],
  },
  {
    what: 'a source with the name of servers that enrol',
    text: `${BASE}sources: { enrolled: { launch: { command: [node] } } }\n`,
    says: ['6:22 sources.enrolled: is a name that must not be enrolled, which is the source of servers that enrol'],
  },
  {
    what: 'a Redis whose database is no number',
    text: `${BASE}store: { redis: { url: 'redis://127.0.0.1:6379/first' } }\n`,
    says: ['6:24 store.redis.url: must be a redis or rediss URL, whose path is the number of a database'],
  },
  {
    what: 'a secret in the file',
    text: `service:\n  url: https://service.example\n  token: hunter2hunter2\n${QUEUES}\n`,
    says: [
      '3:10 service.token: is a secret, which must not be in this file: write { env: NAME_OF_A_VARIABLE } ' +
        'or { file: path/of/a/file }, got a text',
    ],
  },
  {
    what: 'secrets with two sources, no source and an invalid variable',
    text: `${BASE}auth:
  keys:
    - { name: a, role: look, key: { env: A, file: a.txt } }
    - { name: b, role: look, key: {} }
    - { name: c, role: look, key: { env: 'hunter2 hunter2' } }
    - { name: d, role: admin, key: { var: D } }
`,
    says: [
      '8:35 auth.keys.0.key: must have either env or file',
      '9:35 auth.keys.1.key: must have either env or file',
      '10:42 auth.keys.2.key.env: must be the name of an environment variable',
      '11:24 auth.keys.3.role: must be "backend", "look", "players", "rules", "operate" or "deploy"',
      '11:36 auth.keys.3.key: must have either env or file',
      '11:38 auth.keys.3.key.var: is not known',
    ],
  },
  {
    what: 'a password in an address',
    text:
      `service: { url: 'https://me:hunter2@service.example', token: { env: TOKEN } }\n` +
      `${QUEUES}\n` +
      `store: { redis: { url: 'redis://:hunter2@redis.example' } }\n`,
    says: [
      '1:17 service.url: must have neither user nor password: they are secrets, got a text',
      '6:24 store.redis.url: must have neither user nor password: they are secrets; write { env: ' +
        'NAME_OF_A_VARIABLE } or { file: path/of/a/file } in place of the whole URL, got a text',
    ],
  },
  {
    what: 'numbers with units, underscores and quotes',
    text:
      `${BASE}matching: { tickMs: 250ms, listLagMs: 5s, endedTicketTtlMs: 60_000, readsPerSecond: "19" }\n` +
      `listen: { port: 80.5 }\n`,
    says: [
      '6:21 matching.tickMs: must be a number, got a text; write 250, in milliseconds',
      '6:39 matching.listLagMs: must be a number, got a text; write 5000, in milliseconds',
      '6:61 matching.endedTicketTtlMs: must be a number, got a text; write 60000, without quotes or underscores',
      '6:85 matching.readsPerSecond: must be a number, got a text; write 19, without quotes or underscores',
      '7:17 listen.port: must be a whole number, got 80.5',
    ],
  },
  {
    what: 'yes and off instead of true and false',
    text: `${BASE}inspect: yes\nbeacons: { enabled: off }\n`,
    says: [
      '6:10 inspect: must be true or false, got a text; write true',
      '7:21 beacons.enabled: must be true or false, got a text; write false',
    ],
  },
  {
    what: 'numbers instead of strings',
    text: RULE('kind: avoid').replace("version: '1'", 'version: 1.10').replace('name: duel', 'name: 1'),
    says: [
      '3:11 queues.0.name: must be a text, got 1; write "1", in quotes',
      '7:43 queues.0.deploy.version: must be a text, got 1.1; write "1.10", in quotes',
    ],
  },
  {
    what: 'ports and shares out of bounds',
    text:
      `listen: { port: 70000 }\n` +
      `service: { url: https://service.example, token: { env: TOKEN }, share: 2 }\n` +
      `${QUEUES}\n`,
    says: ['1:17 listen.port: must be at most 65535, got 70000', '2:72 service.share: must be at most 1, got 2'],
  },
  {
    what: 'invalid URLs and an invalid network',
    text:
      `${BASE}profiles: { url: profiles.example }\n` +
      `listen: { publicUrl: 'ftp://mm.example' }\n` +
      `addresses: { trustedProxies: [10.0.0.0/8, 10.0.0.300] }\n`,
    says: [
      '6:18 profiles.url: must be an http or https URL',
      '7:22 listen.publicUrl: must be an http or https URL',
      '8:43 addresses.trustedProxies.1: must be a network: an address, a slash and the prefix length',
    ],
  },
  {
    what: 'two queues with the same name',
    text: `${BASE}  - name: duel\n    matchSize: 4\n    ${DEPLOY}\n`,
    says: ['6:11 queues.1.name: is the name of queues.0 too'],
  },
  {
    what: 'several faults in several queues',
    text:
      `${SERVICE}\n` +
      `queues:\n` +
      `  - name: duel\n` +
      `    matchSize: 0\n` +
      `    fillForMs: -1\n` +
      `    deploy: { aplication: game, version: '1' }\n` +
      `  - name: five\n` +
      `    teams: [{ name: team, size: { min: 6, max: 5 } }, { name: team, size: 1 }]\n` +
      `    ${DEPLOY}\n`,
    says: [
      '4:16 queues.0.matchSize: must be at least 1, got 0',
      '5:16 queues.0.fillForMs: must be at least 0, got -1',
      '6:15 queues.0.deploy.aplication: is not known; did you mean application?',
      '8:40 queues.1.teams.0.size.min: must not be more than max, 5, got 6',
      '8:63 queues.1.teams.1.name: there are two teams called "team"',
    ],
  },
  {
    what: 'a rule that is a function',
    text: RULE('kind: any\n        rules: [{ kind: avoid }, { kind: custom, name: mine, test: x }]'),
    says: [
      '7:42 queues.0.rules.0.rules.1.kind: is a function, which no file can hold: say it by any, all, not, ' +
        'accepts or compare, or use Muster as a library',
    ],
  },
  {
    what: 'a misspelt field in a step of a limit',
    text: RULE(
      'kind: distance\n        maxKm:\n          - { afterMs: 0, value: 500 }\n          - { after: 9000, ' +
        'value: 1000 }',
    ),
    says: ['9:15 queues.0.rules.0.maxKm.1.after: is not known; did you mean afterMs?'],
  },
  {
    what: 'a misspelt field of a rule within another rule',
    text: RULE('kind: any\n        rules:\n          - kind: avoid\n          - { kind: equal, atribute: mode }'),
    says: ['9:28 queues.0.rules.0.rules.1.atribute: is not known; did you mean attribute?'],
  },
  {
    what: 'a webhook without an address',
    text: `${BASE}webhook: { enabled: true }\n`,
    says: ['6:21 webhook.enabled: needs listen.publicUrl, at which the service finds this program'],
  },
  {
    what: 'a JWT algorithm that does not fit public keys',
    text: `${BASE}auth:\n  jwt:\n    jwks: https://id.example/keys\n    algorithms: [ES256, HS256]\n`,
    says: ['9:25 auth.jwt.algorithms.1: needs a shared secret, not public keys (jwks)'],
  },
  {
    what: 'both public keys and a secret for JWT',
    text: `${BASE}auth:\n  jwt: { jwks: 'https://id.example/keys', secret: { env: S } }\n`,
    says: ['7:8 auth.jwt: must have either jwks or secret'],
  },
  {
    what: 'two keys with the same name',
    text:
      `${BASE}auth:\n` +
      `  keys:\n` +
      `    - { name: a, role: look, key: { env: A } }\n` +
      `    - { name: a, role: operate, key: { env: B } }\n`,
    says: ['9:15 auth.keys.1.name: is the name of auth.keys.0 too'],
  },
  {
    what: 'a queue with a misspelt pool and an invalid match size',
    text: `${SERVICE}\n${POOL}\nqueues:\n  - name: duel\n    matchSize: 0\n    pool: arina\n`,
    says: [
      '7:16 queues.0.matchSize: must be at least 1, got 0',
      '8:11 queues.0.pool: there is no such pool, got "arina"; did you mean arena?',
    ],
  },
  {
    what: 'a queue with neither deploy nor pool, and one with both',
    text:
      `${SERVICE}\n${POOL}\nqueues:\n  - name: duel\n    matchSize: 2\n` +
      `  - name: other\n    matchSize: 2\n    pool: arena\n    deploy: { application: other, version: '1' }\n`,
    says: [
      '6:5 queues.0.deploy: must be given unless pool is given',
      '11:13 queues.1.deploy: must be left out, because its pool says what is deployed',
    ],
  },
  {
    what: 'invalid pools and valid queues',
    text:
      `${SERVICE}\npools:\n  - name: arena\n    deploy: { application: game, version: 1 }\n` +
      `    places: [{ name: Paris, latitude: 98.9, longitude: 2.4 }]\n    warm: { hit: 1.5, maxi: 5 }\n` +
      `    at: [{ cron: '0 25 * * *', minutes: 60, min: 3 }]\n` +
      `queues:\n  - { name: duel, matchSize: 2, pool: arena }\n`,
    says: [
      '4:43 pools.0.deploy.version: must be a text, got 1; write "1", in quotes',
      '5:39 pools.0.places.0.latitude: must be at most 90, got 98.9',
      '6:18 pools.0.warm.hit: must be at most 0.999, got 1.5',
      '6:23 pools.0.warm.maxi: is not known; did you mean max?',
      '7:18 pools.0.at.0.cron: must be five fields as in crontab, and timezone a known time zone, got "0 25 * * *"',
    ],
  },
  {
    what: 'two pools with the same name',
    text:
      `${SERVICE}\n${POOL}\n  - name: arena\n    deploy: { application: game, version: '2' }\n` +
      `queues:\n  - { name: duel, matchSize: 2, pool: arena }\n`,
    says: ['5:11 pools.1.name: is the name of pools.0 too'],
  },
  {
    what: 'a pool with an unknown source',
    text:
      `${SERVICE}\n${POOL}\n    source: metall\nqueues:\n  - { name: duel, matchSize: 2, pool: arena }\n` +
      `sources:\n  metal: { allocator: 'https://hoster.example/muster', secret: { env: METAL } }\n`,
    says: ['5:13 pools.0.source: is none of the sources, got "metall"; did you mean metal?'],
  },
  {
    what: 'sources with no kind, two kinds or no secret',
    text:
      `${BASE}sources:\n  a: {}\n  b: { allocator: 'https://x', secret: { env: S }, launch: { command: [game] } }\n` +
      `  c: { allocator: 'https://x' }\n  d: { launch: { command: [], max: 0, ports: { game: QUIC } } }\n` +
      `  e: { launch: { command: [game] }, lagMs: 5 }\n`,
    says: [
      '7:6 sources.a: must have either allocator, with its secret, or launch',
      '8:6 sources.b: must have either allocator, with its secret, or launch',
      '9:3 sources.c.secret: is required: it signs each request',
      '10:27 sources.d.launch.command: must not be empty',
      '10:36 sources.d.launch.max: must be at least 1, got 0',
      '10:54 sources.d.launch.ports.game: must be "UDP", "TCP", "TCP/UDP", "HTTP", "HTTPS", "WS" or "WSS", got "QUIC"',
      '11:44 sources.e.lagMs: is only allowed with allocator, got 5',
    ],
  },
  {
    what: 'parts that need a deployment service, without a service',
    text:
      `pools:\n  - { name: own, ${DEPLOY} }\n  - { name: far, source: a, ${DEPLOY} }\nqueues:\n` +
      `  - { name: duel, matchSize: 2, ${DEPLOY} }\n  - { name: solo, matchSize: 1, pool: far }\n` +
      `sources: { a: { launch: { command: [game] } } }\nlobbies: { enabled: true }\n` +
      `listen: { publicUrl: 'https://x' }\nwebhook: { enabled: true }\n`,
    says: [
      '2:26 pools.0.deploy: needs the deployment service, but it is not set, got game 1. Set service, or a source: "a"',
      '5:41 queues.0.deploy: needs the deployment service, but it is not set, got game 1. Set service, or use a pool',
      '8:1 lobbies.startAs: needs the deployment service for relay sessions, got relay. Set service',
      '10:21 webhook.enabled: needs the deployment service, which sends webhooks, got true. Set service',
    ],
  },
  {
    what: 'local processes with a Redis store',
    text: `${BASE}store: { redis: { url: 'redis://localhost' } }\nsources:\n  a: { launch: { command: [game] } }\n`,
    says: [
      '8:16 sources.a.launch: needs a store of one process, a folder or memory: with Redis another machine may lead ' +
        'and find none of them',
    ],
  },
  {
    what: 'sources with faults',
    text: `${BASE}sources:\n  metal: { allocator: 'ftp://x', secret: whsec_hunter2, lagMs: -1, timeoutMs: 40000 }\n`,
    says: [
      '7:23 sources.metal.allocator: must be an http or https URL, got a text of 7 characters',
      '7:42 sources.metal.secret: is a secret, which must not be in this file: write { env: NAME_OF_A_VARIABLE } or ' +
        '{ file: path/of/a/file }, got a text',
      '7:64 sources.metal.lagMs: must be at least 0, got -1',
      '7:79 sources.metal.timeoutMs: must be at most 30000, got 40000',
    ],
  },
  {
    what: 'attributes of player-started servers that the browser does not declare',
    text:
      `${SERVICE}\n${POOL}\n    custom: { attributes: [mod, rank] }\n` +
      `queues:\n  - { name: duel, matchSize: 2, pool: arena }\n` +
      `browser: { attributes: { mode: { type: string }, rank: { type: number } } }\n`,
    says: ['5:28 pools.0.custom.attributes.0: is none of the attributes of browser, got "mod"; did you mean mode?'],
  },
  {
    what: 'a browser with faults',
    text: `${BASE}browser:\n  attributes: { rank: { type: number, values: ['1'] } }\n  holdSecond: 30\n`,
    says: [
      '7:47 browser.attributes.rank.values: are only allowed for type string',
      '8:3 browser.holdSecond: is not known; did you mean holdSeconds?',
    ],
  },
  {
    what: 'secrets of servers and results written in the file',
    text: `${BASE}servers: { secret: hunter2 }\nresults: { url: 'ftp://x', secret: whsec_hunter2 }\n`,
    says: [
      '6:20 servers.secret: is a secret, which must not be in this file: write { env: NAME_OF_A_VARIABLE } or ' +
        '{ file: path/of/a/file }, got a text',
      '7:17 results.url: must be an http or https URL',
      '7:36 results.secret: is a secret, which must not be in this file: write { env: NAME_OF_A_VARIABLE } or ' +
        '{ file: path/of/a/file }, got a text',
    ],
  },
  {
    what: 'a URL of results that fetch refuses',
    text: `${BASE}results: { url: 'https://game.example.com:6000/results', secret: { env: R } }\n`,
    says: ['6:17 results.url: must not have port 6000, because fetch and browsers refuse it'],
  },
  {
    what: 'a key without a role',
    text: `${BASE}auth:\n  keys:\n    - name: a\n      key: { env: A }\n`,
    says: ['8:7 auth.keys.0.role: is missing'],
  },
  {
    what: 'lobbies with an unknown queue',
    text: `${BASE}lobbies: { startAs: match, queue: dual }\n`,
    says: ['6:35 lobbies.queue: is none of the queues; did you mean duel?'],
  },
  {
    what: 'lobbies with a queue that has no effect',
    text: `${BASE}lobbies: { queue: duel }\n`,
    says: ['6:19 lobbies.queue: is only used with startAs: match'],
  },
  {
    what: 'a Redis store without a URL',
    text: `${BASE}store: { redis: { prefix: mu } }\n`,
    says: ['6:10 store.redis.url: is missing'],
  },
  {
    what: 'a store of a misspelt kind',
    text: `${BASE}store: { foldr: ./data }\n`,
    says: ['6:10 store.foldr: is not known; did you mean folder?'],
  },
  {
    what: 'a command that is a string instead of a list',
    text: `${BASE}launch: node server.js\n`,
    says: ['6:9 launch: must be a list: the program and its arguments; or { command, folder }, got a text'],
  },
  {
    what: 'a command in a folder that is misspelt',
    text: `${BASE}launch: { command: [node], foldr: build }\n`,
    says: ['6:28 launch.foldr: is not known; did you mean folder?'],
  },
  {
    what: 'a limit that is null',
    text: `${BASE}limits:\n  perCaller:\n  perAddress: { limit: 5 }\n`,
    says: [
      '7:3 limits.perCaller: is empty: remove it, or give it a value',
      '8:3 limits.perAddress.windowMs: is missing',
    ],
  },
]
