import { bearerToken, clientAddress } from '@muster/core/http'
import type { EnrolmentDefinition, PoolDefinition } from '@muster/hosting'
import { createTicketApi } from './http-api/ticket-api.js'
import { setUp } from './matchmaker.fixture.js'

export const KEY = 'a-key-of-the-arena-in-frankfurt-1'
export const NEXT_KEY = 'a-key-of-the-arena-in-frankfurt-2'
const frankfurt = { name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }
/** A pool that has enrolled servers only. */
export const own = {
  name: 'arena',
  places: [frankfurt],
  reuse: { maxMatches: 20 },
  enrol: [{ key: KEY, place: 'Frankfurt', max: 6 }] as [EnrolmentDefinition],
} satisfies PoolDefinition
export const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

interface Reply {
  readonly status: number
  // Tests read any key of the body.
  readonly json: Readonly<Record<string, unknown>>
}

/** Creates a matchmaker behind the ticket API, and processes that enrol by HTTP and accept each match. */
export function open(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ queues, pools: [own], serverSecret: 'master-secret-of-32-characters-and-more', ...options })
  const { matchmaker } = world
  const clock = options.clock ?? world.clock
  const acts: unknown[] = []
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      if (id === undefined || !/^(ann|ben|backend)$/.test(id)) return undefined
      return id === 'backend' ? { id, role: 'backend' } : { id }
    },
    address: clientAddress({ trustedProxies: ['10.0.0.0/8'] }),
    clock,
    inspect: true,
    acted: (act) => acts.push(act),
  })
  const send = async (who: string, method: string, path: string, body?: unknown, from = '192.0.2.1', proxied = '') => {
    const headers = {
      authorization: `Bearer ${who}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(proxied !== '' && { 'x-forwarded-for': proxied }),
    }
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = await api(request, { remoteAddress: from })
    const text = await answer.text()
    return { status: answer.status, json: text === '' ? {} : JSON.parse(text) } as Reply
  }

  interface Process {
    readonly name: string
    readonly instance: string
    token: string
    seq: number
    matches: readonly string[]
    /** Ids of the matches that the process reports as over. */
    readonly over: Set<string>
    isSilent: boolean
    isDraining: boolean
    /** The datagram that the process repeats in its reports. */
    knock: string | undefined
    /** Status of the last response. */
    status: number
    json: Reply['json']
  }
  const processes: Process[] = []
  const enrolment = (name: string, instance: string, port = 7777) => ({
    instance,
    name,
    matches: 1,
    address: { ports: { game: { port, protocol: 'UDP' } } },
  })
  const enrol = (body: object, { key = KEY, from = '192.0.2.1', proxied = '' } = {}) =>
    send(key, 'POST', '/servers', body, from, proxied)
  /** Starts a process that enrols at once. */
  const start = async (name: string, instance = `${name}-1`, more: object = {}): Promise<Process> => {
    const { status, json } = await enrol({ ...enrolment(name, instance), ...more })
    const process: Process = {
      name,
      instance,
      token: String(json['token']),
      seq: 0,
      matches: [],
      over: new Set<string>(),
      isSilent: false,
      isDraining: false,
      knock: undefined,
      status,
      json,
    }
    processes.push(process)
    return process
  }
  const report = async (one: Process) => {
    one.seq += 1
    const { instance, seq, over, isDraining, knock } = one
    const matches = one.matches.map((id) => ({ id, status: over.has(id) ? 'over' : 'open' }))
    const { status, json } = await send(one.token, 'PUT', '/servers/me', {
      instance,
      seq,
      matches,
      draining: isDraining,
      knock,
    })
    one.status = status
    one.json = json
    if (status === 409) await send(one.token, 'POST', '/servers', enrolment(one.name, instance))
    if (status === 410) one.isSilent = true
    if (status === 200) one.matches = (json['matches'] as { id: string }[]).map(({ id }) => id)
    return status
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      await world.run(500)
      for (const one of processes) if (!one.isSilent) for (const _ of [1, 2]) await report(one)
    }
  }
  const states = () => matchmaker.inspect().servers.map(({ state }) => state)
  return { ...world, api, acts, send, enrol, enrolment, start, report, run, processes, states, clock: world.clock }
}
