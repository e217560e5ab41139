import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMachine, type MachineInput, type Output } from './machine.js'

type Command = Extract<MachineInput, { do: string }>
type Unnumbered<One = Command> = One extends Command ? Omit<One, 'command'> : never
type Request = Extract<Output, { request: number }>
interface Answer {
  readonly status: number
  readonly body?: unknown
}

const request = { profile: 'duel' }
const COMMANDS: readonly Unnumbered[] = [
  { do: 'play', request },
  { do: 'group', request },
  { do: 'group', request, join: 'g1' },
  { do: 'ready', isReady: true },
  ...(['resume', 'cancel', 'accept', 'decline'] as const).map((one) => ({ do: one })),
]

const assignment = { fqdn: 'game.example', ports: {} }
const TICKETS = [
  { status: 'SEARCHING' },
  { status: 'MATCH_FOUND', acceptance: { accepted: false, until: '2026-11-26T12:00:10.000Z' } },
  { status: 'HOST_ASSIGNED', match_id: 'm1', assignment },
  { status: 'CANCELLED', cancel_reason: 'expired' },
].flatMap((one) =>
  ['t1 1', 't1 2', 't2 1'].map((which) => {
    const [id = '', version] = which.split(' ')
    return { id, profile: 'duel', group_id: null, version: Number(version), ...one }
  }),
)
const MEMBERS = [
  { status: 'FORMING', ticket_id: null },
  { status: 'SEARCHING', ticket_id: 't1' },
  { status: 'CANCELLED', ticket_id: null },
].map((one) => ({ group_id: 'g1', member_id: 'p1', is_ready: false, ...one }))
const NOTHING = { tickets: [], groups: [], matches: [] }
const PLAYERS = [
  NOTHING,
  ...TICKETS.slice(0, 6).map((ticket) => ({ ...NOTHING, tickets: [ticket] })),
  { ...NOTHING, groups: [MEMBERS[0]] },
  { ...NOTHING, matches: [{ match_id: 'm1', assignment }] },
]
const REFUSALS: readonly Answer[] = [
  { status: 0 },
  { status: 503 },
  { status: 401 },
  { status: 404 },
  { status: 409, body: { code: 'player-busy' } },
  { status: 409, body: { code: 'player-cooling-down' } },
]

/** Returns a possible response to a request. @param draw any whole number */
function answerTo({ method, path }: Request, draw: number): Answer {
  if (draw % 2 === 0) return REFUSALS[(draw / 2) % REFUSALS.length] as Answer
  const among = (bodies: readonly unknown[]) => ({ status: 200, body: bodies[(draw >> 1) % bodies.length] })
  if (method === 'DELETE') return { status: 204 }
  if (path === '/me') return among(PLAYERS)
  if (path.startsWith('/tickets')) return among(TICKETS)
  if (path === '/groups' || path.includes('/members')) return among(MEMBERS)
  return among(['FORMING', 'SEARCHING'].map((status) => ({ status, members: [] })))
}

/**
 * Returns a Muster in a fixed state: the player stays in this ticket, group or match until a request ends it. The
 * ticket is at its last version.
 */
function honest(me: (typeof PLAYERS)[number]) {
  let now = { ...me, tickets: me.tickets.map((one) => ({ ...one, version: 3 })) }
  const isFree = me === NOTHING
  return ({ method, path }: Request): Answer | undefined => {
    const one = [...now.tickets, ...now.groups][0]
    const own = one === undefined ? 'none' : 'id' in one ? `/tickets/${one.id}` : `/groups/${one.group_id}`
    if (path === '/me') return { status: 200, body: now }
    if (method === 'POST' && (path === '/tickets' || path.startsWith('/groups')))
      return { status: 409, body: { code: isFree ? 'player-cooling-down' : 'player-busy' } }
    if (!path.startsWith(own)) return { status: 404 }
    if (method === 'DELETE') now = NOTHING
    if (method !== 'GET') return { status: 200, body: one }
    if (path === own)
      return { status: 200, body: path.startsWith('/groups') ? { status: 'FORMING', members: [] } : one }
    // Nothing changes any more, so the long poll gets no response.
    return path.endsWith('&version=3') ? undefined : { status: 200, body: one }
  }
}

function openMachine() {
  const machine = createMachine(() => 0.5)
  const underWay = new Map<number, Request>()
  /** Ids of commands without an answer yet, with their names. */
  const open = new Map<number, string>()
  let [now, commands] = [0, 0]
  let wakeAt: number | null = null
  let phase = 'idle'
  const step = (input: MachineInput) => {
    if ('answer' in input) underWay.delete(input.answer)
    for (const output of machine.step(input, now)) {
      if ('request' in output) underWay.set(output.request, output)
      else if ('abort' in output) underWay.delete(output.abort)
      else if ('wakeAt' in output) wakeAt = output.wakeAt
      else if ('state' in output) phase = output.state.phase
      else {
        const command = 'done' in output ? output.done : output.failed
        expect(open.delete(command), `command ${command} has an answer already`).toBe(true)
      }
    }
  }
  return {
    underWay,
    open,
    phase: () => phase,
    answer: (given: Request, answer: Answer) => step({ answer: given.request, ...answer }),
    command: (wanted: Unnumbered | { readonly do: 'close' }) => {
      commands += 1
      open.set(commands, wanted.do)
      step({ ...wanted, command: commands } as MachineInput)
    },
    wake: () => {
      if (wakeAt === null) return
      now = wakeAt
      step({ wake: true })
    },
  }
}

type Act = { readonly command: Unnumbered } | { readonly nth: number; readonly draw: number } | 'wake'
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...COMMANDS).map((command) => ({ command })) },
  { weight: 4, arbitrary: fc.record({ nth: fc.nat(3), draw: fc.nat(255) }) },
  { weight: 1, arbitrary: fc.constant<Act>('wake') },
)

function play(acts: readonly Act[], me: (typeof PLAYERS)[number], isClosed: boolean): void {
  const machine = openMachine()
  for (const one of acts) {
    const requests = [...machine.underWay.values()]
    if (one === 'wake') machine.wake()
    else if ('command' in one) machine.command(one.command)
    else if (requests.length > 0) {
      const given = requests[one.nth % requests.length] as Request
      machine.answer(given, answerTo(given, one.draw))
    }
  }
  if (isClosed) {
    machine.command({ do: 'close' })
    machine.command({ do: 'resume' })
  } else {
    const muster = honest(me)
    for (let turn = 0; turn < 20; turn += 1) {
      for (const given of machine.underWay.values()) {
        const answer = muster(given)
        if (answer !== undefined) machine.answer(given, answer)
      }
      machine.wake()
    }
    // A player who is searching waits for a server.
    if (/^(gathering|searching|found)$/.test(machine.phase()))
      for (const [command, what] of machine.open) if (what === 'play') machine.open.delete(command)
  }
  expect([...machine.open]).toEqual([])
}

test('every command of the client machine is answered once, at the latest when it is closed (property)', () => {
  fc.assert(fc.property(fc.array(act, { maxLength: 30 }), fc.constantFrom(...PLAYERS), fc.boolean(), play), {
    numRuns: Number(process.env['MACHINE_RUNS'] ?? 3000),
  })
})
