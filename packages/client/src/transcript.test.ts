import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Fate, openApi } from './api.fixture.js'
import { createMachine, type MachineInput, type Machine, type Output } from './machine.js'
import type { Muster } from './muster.js'
import type { Search } from './search.js'

/**
 * Writes the inputs and outputs of the client's state machine as lines of JSON, which the engines in all languages
 * replay. A line is `{"session"}`, `{"at", "in"}` or `{"at", "out"}`, with milliseconds since the start of the session.
 * The random number is always 0.5.
 */
const PATH = new URL('../../../engines/transcript.jsonl', import.meta.url)

type Line =
  | { readonly session: string }
  | { readonly at: number; readonly in: MachineInput }
  | { readonly at: number; readonly out: Output }

type Api = ReturnType<typeof openApi>
interface Players {
  readonly api: Api
  readonly ann: Muster
  readonly ben: Muster
  /** Sets the fates of ann's next requests. Later requests arrive normally. */
  readonly next: (...fates: Fate[]) => void
}

const quiet = <Started extends Promise<unknown>>(started: Started): Started => {
  started.catch(() => {})
  return started
}
const play = (player: Muster, profile = 'duel'): Search => quiet(player.play({ profile }))

/** The commands of ann in each session. */
const SESSIONS: Readonly<Record<string, (players: Players) => Promise<void>>> = {
  'a match is found, and the player is sent to its server': async ({ api, ann, ben }) => {
    quiet(ann.resume())
    await api.run(1)
    quiet(ann.play({ profile: 'duel', attributes: { skill: 1200 }, roles: ['tank'] }))
    await api.run(30)
    play(ben)
    await api.run(6)
    quiet(ann.resume())
    await api.run(1)
  },
  'what the player is in is asked twice at a time: one look answers both, and a refusal is for both': async (given) => {
    const { api, ann, next } = given
    next('late')
    quiet(ann.resume())
    await api.run(1)
    quiet(ann.resume())
    await api.run(3)
    next('proxy page', 'late')
    quiet(ann.resume())
    await api.run(1)
    quiet(ann.resume())
    play(ann)
    await api.run(4)
    const other = api.connect('old')
    const refused = [quiet(other.resume()), quiet(other.resume())]
    await api.run(1)
    for (const one of refused) await expect(one).rejects.toMatchObject({ code: 'unauthorized' })
    other.close()
  },
  'a match is accepted, but not by the other, and declined the next time': async ({ api, ann, ben }) => {
    const search = play(ann, 'ranked')
    play(ben, 'ranked')
    await api.run(2)
    quiet(search.accept())
    await api.run(12)
    play(ben, 'ranked')
    await api.run(2)
    quiet(search.decline())
    await api.run(2)
    quiet(search.accept())
  },
  'a repeated answer to a match, whose first was lost, does not answer the next match': async (given) => {
    const { api, ann, ben, next } = given
    const search = play(ann, 'ranked')
    const other = play(ben, 'ranked')
    await api.run(2)
    next('answer lost', 'answer lost', 'answer lost', 'answer lost')
    quiet(search.accept())
    quiet(other.decline())
    await api.run(1)
    play(ben, 'ranked')
    await api.run(30)
  },
  'a search is cancelled: before the answer, after it, without one, and when there is none': async (given) => {
    const { api, ann, next } = given
    next('late')
    quiet(play(ann).cancel())
    await api.run(5)
    const search = play(ann)
    await api.run(1)
    quiet(search.cancel())
    await api.run(1)
    next('answer lost', 'proxy page')
    const lost = play(ann)
    await api.run(11)
    quiet(lost.cancel())
    await api.run(20)
    quiet(lost.cancel())
  },
  'a search that is over is not cancelled once more, and an answer that comes too late is for nobody': async (
    given,
  ) => {
    const { api, ann, ben, next } = given
    const search = play(ann, 'ranked')
    play(ben, 'ranked')
    await api.run(2)
    next('late')
    quiet(search.accept())
    quiet(search.cancel())
    await api.run(5)
    const second = play(ann)
    await api.run(1)
    next('answer lost', 'arrives')
    quiet(second.cancel())
    await api.run(1)
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(15)
    quiet(ann.groups.leave())
    await api.run(1)
  },
  'a command comes twice, or another one in its place: each has its answer': async ({ api, ann, ben, next }) => {
    next('late')
    const search = play(ann)
    play(ann)
    for (let nth = 0; nth < 2; nth += 1) quiet(search.cancel())
    await api.run(5)
    play(ann, 'nowhere')
    play(ann)
    await api.run(1)
    play(ben, 'ranked')
    play(ann, 'ranked')
    await api.run(2)
    for (let nth = 0; nth < 2; nth += 1) quiet(search.accept())
    for (let nth = 0; nth < 2; nth += 1) quiet(search.cancel())
    quiet(search.decline())
    await api.run(2)
    quiet(ann.groups.create({ profile: 'duel' }))
    quiet(ann.groups.leave())
    await api.run(1)
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(1)
    for (const isReady of [true, false]) quiet(ann.groups.ready(isReady))
    quiet(ann.groups.leave())
    quiet(ann.groups.ready())
    await api.run(1)
  },
  'a search asks what the player is in, and goes on where a resume is refused': async ({ api, ann, next }) => {
    const other = api.connect('ann')
    play(other)
    await api.run(1)
    next('late', 'arrives', 'login page', 'login page')
    quiet(ann.resume())
    await api.run(1)
    play(ann)
    await api.run(2)
    other.close()
  },
  'a player is ready, and hears of that when they play already': async ({ api, ann, ben, next }) => {
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(1)
    next('answer lost')
    quiet(ann.groups.ready())
    play(ben)
    await api.run(12)
  },
  'a group gathers, searches and plays': async ({ api, ann, ben }) => {
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(2)
    if (ann.state.phase === 'gathering') quiet(ben.groups.join(ann.state.group.id, { profile: 'duel' }))
    await api.run(2)
    quiet(ann.groups.ready())
    await api.run(1)
    quiet(ann.groups.ready(false))
    await api.run(1)
    play(ann)
    quiet(ann.groups.ready())
    quiet(ben.groups.ready())
    await api.run(8)
  },
  'a group is joined that is not there, made, and left': async ({ api, ann }) => {
    quiet(ann.groups.join('nowhere', { profile: 'duel' }))
    await api.run(1)
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(1)
    quiet(ann.groups.create({ profile: 'duel' }))
    quiet(ann.groups.leave())
    await api.run(1)
  },
  'the player is in something already, here or on another device': async ({ api, ann, ben }) => {
    const other = api.connect('ann')
    play(other)
    await api.run(1)
    play(ann)
    play(ann)
    await api.run(2)
    play(ben)
    await api.run(6)
    play(ann)
    quiet(ann.groups.create({ profile: 'duel' }))
    await api.run(2)
    other.close()
  },
  'requests and answers are lost, and a proxy answers in place of Muster': async ({ api, ann, ben, next }) => {
    next('proxy page', 'lost', 'answer lost', 'proxy page')
    play(ann)
    await api.run(60)
    next('lost', 'proxy page', 'answer lost', 'proxy page')
    await api.run(80)
    play(ben)
    await api.run(40)
  },
  'a search is refused: no such queue, and a token that is wrong': async ({ api, ann }) => {
    play(ann, 'nowhere')
    await api.run(1)
    const other = api.connect('old')
    play(other)
    await api.run(1)
    other.close()
  },
  'a proxy answers long polls at once with what is known: they are a second apart': async ({ api, ann, ben, next }) => {
    play(ann)
    next('arrives', 'at once', 'at once', 'at once', 'at once')
    await api.run(6)
    play(ben)
    await api.run(6)
  },
  'the ticket is gone, and so is what was searched': async ({ api, ann }) => {
    play(ann)
    await api.run(1)
    const me = api.connect('ann')
    quiet(me.resume())
    await api.run(1)
    quiet(play(me).cancel())
    await api.run(26)
    ann.close()
    quiet(ann.resume())
    me.close()
  },
}

async function record(): Promise<string> {
  const lines: Line[] = []
  for (const [session, act] of Object.entries(SESSIONS)) {
    const api = openApi({ random: () => 0.5 })
    const start = api.clock.now()
    const fates: Fate[] = []
    lines.push({ session })
    const recorded = (machine: Machine): Machine => ({
      step: (input, now) => {
        const at = now - start
        lines.push({ at, in: input })
        const outputs = machine.step(input, at)
        lines.push(...outputs.map((out) => ({ at, out })))
        // Convert the machine's times to times of the session.
        return outputs.map((out) => ('wakeAt' in out && out.wakeAt !== null ? { wakeAt: out.wakeAt + start } : out))
      },
    })
    const ann = api.connect('ann', () => fates.shift() ?? 'arrives', {}, recorded)
    const ben = api.connect('ben')
    await act({ api, ann, ben, next: (...given) => void fates.push(...given) })
    ann.close()
    ben.close()
    await api.close()
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

test('the committed client transcript equals what the client does (`--update` rewrites the transcript)', async () => {
  await expect(await record()).toMatchFileSnapshot(PATH.pathname)
})

test('a timer that fires slightly early, as in browsers, still wakes the client machine', () => {
  const machine = createMachine(() => 0.5)
  machine.step({ do: 'resume', command: 1 }, 0)
  expect(machine.step({ answer: 1, status: 0 }, 0.7)).toContainEqual({ wakeAt: 250.7 })
  expect(machine.step({ wake: true }, 250.2)).toContainEqual({ request: 2, method: 'GET', path: '/me', waitMs: 0 })
})

test('the client machine replays every line of the transcript', () => {
  const lines = readFileSync(PATH, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  let machine = createMachine(() => 0.5)
  let outputs: Output[] = []
  for (const [nth, line] of lines.entries()) {
    if ('session' in line) machine = createMachine(() => 0.5)
    else if ('in' in line) {
      expect(outputs, `before line ${nth + 1}`).toEqual([])
      outputs = [...machine.step(line.in, line.at)]
    } else expect(JSON.parse(JSON.stringify(outputs.shift())), `line ${nth + 1}`).toEqual(line.out)
  }
  expect(outputs).toEqual([])
  expect(lines.length).toBeGreaterThan(200)
})
