/** Plays the request sequences of docs/game-clients.md as a client. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const page = readFileSync(new URL('../../docs/game-clients.md', import.meta.url), 'utf8')
export const sequences = Array.from(
  page.matchAll(/^### (.*)\n\n```requests\n([^]*?)```/gm),
  ([, title = '', block = '']) => ({ title, steps: stepsOf(block) }),
)

export interface Step {
  readonly who: string
  readonly method: string
  readonly path: string
  readonly body: string | undefined
  readonly status: number
  readonly answer: string | undefined
}

function stepsOf(block: string): readonly Step[] {
  const lines = block.trimEnd().split('\n')
  return Array.from({ length: lines.length / 2 }, (_, index) => {
    const asked = /^(\w+) +([A-Z]+) (\S+)(?: (\{.*\}))?$/.exec(lines[2 * index] ?? '')
    const told = /^ +(\d{3})(?: (\{.*\}))?$/.exec(lines[2 * index + 1] ?? '')
    if (asked === null || told === null) throw new Error(`step ${index + 1} is not a request and its answer`)
    const [, who = '', method = '', path = '', body] = asked
    return { who, method, path, body, status: Number(told[1]), answer: told[2] }
  })
}

/** Fills names into the expected response. New names take their values from the actual response. */
function filled(expected: unknown, actual: unknown, names: Map<string, string>): unknown {
  if (Array.isArray(expected)) return expected.map((one, index) => filled(one, (actual as unknown[])?.[index], names))
  if (typeof expected === 'object' && expected !== null)
    return Object.fromEntries(
      Object.entries(expected).map(([key, one]) => [key, filled(one, Reflect.get(Object(actual), key), names)]),
    )
  const name = typeof expected === 'string' ? /^\{(\w+)\}$/.exec(expected)?.[1] : undefined
  if (name === undefined) return expected
  if (!names.has(name) && typeof actual === 'string') names.set(name, actual)
  return names.get(name) ?? `nothing called ${name}`
}

const fill = (template: string, names: ReadonlyMap<string, string>) =>
  template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names.get(name) ?? whole)

/** Sends a request as a player. */
export type SendAs = (who: string, method: string, path: string, body?: unknown) => Promise<Response>

/** Sends the request of a step, repeatedly like a polling client, and checks the response. */
async function play({ who, method, path, body, status, answer }: Step, names: Map<string, string>, request: SendAs) {
  const isPoll = path.includes('wait=')
  let version = 1
  for (let tries = isPoll ? 20 : 1; tries > 0; tries -= 1) {
    const asked = fill(path, names).replace(/version=\d+/, `version=${version}`)
    const response = await request(who, method, asked, body && JSON.parse(fill(body, names)))
    const said = await response.text()
    const told = (said === '' ? {} : JSON.parse(said)) as { readonly status?: unknown; readonly version?: number }
    version = told.version ?? version
    const wanted = answer && (JSON.parse(answer) as { readonly status?: unknown })
    if (tries > 1 && wanted && told.status !== wanted.status) continue
    expect({ who, method, asked, status: response.status }).toEqual({ who, method, asked, status })
    if (wanted) expect(told).toMatchObject(filled(wanted, told, names) as object)
    else expect(said).toBe('')
    return
  }
}

/** Plays all steps of a sequence. */
export async function playAll(steps: readonly Step[], request: SendAs): Promise<void> {
  const names = new Map<string, string>()
  for (const step of steps) await play(step, names, request)
}
