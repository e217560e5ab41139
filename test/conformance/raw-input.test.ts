import { operations } from '@muster/core/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badInputs, type AnyOperation } from '../specification/bad-inputs.js'
import { start, TOKEN, type Harness } from './harness.js'

/** The emulator refuses everything that the description excludes, also from other clients than ours. */

let service: Harness
beforeAll(async () => {
  service = await start()
})
afterAll(() => service.close())

interface Answer {
  readonly status: number
  readonly message: unknown
}

async function send(
  method: string,
  target: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${service.url}${target}`, {
    method,
    headers: { authorization: `token ${TOKEN}`, ...headers },
    ...(body !== undefined && { body }),
  })
  const json = (await response.json()) as { readonly message?: unknown }
  return { status: response.status, message: json.message }
}

/** Encodes an input as HTTP by the rules of the document, and sends it without validation. */
function sendInput(
  { method, path, pathKeys }: AnyOperation,
  input: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const target = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(input[key])))
  const rest = Object.entries(input).filter(([key, value]) => !pathKeys.includes(key) && value !== undefined)
  if (method !== 'GET' && method !== 'DELETE') return send(method, target, JSON.stringify(Object.fromEntries(rest)))
  const query = new URLSearchParams()
  for (const [key, value] of rest) query.append(key, typeof value === 'string' ? value : JSON.stringify(value))
  return send(method, `${target}?${query.toString()}`)
}

/** Inputs that a URL cannot express: an empty name changes the path, and a number in a query becomes a string. */
const unsayable = ['an empty name in a path', 'a number as storage']

const sayable = badInputs.filter(([what]) => !unsayable.includes(what))

test.each(sayable)(
  'the emulator answers 400 to an input with %s, naming the field',
  async (_, operation, valid, change, field) => {
    const { status, message } = await sendInput(operation, { ...valid, ...change })
    expect(status).toBe(400)
    expect(message).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')}: .`))
  },
)

test('the only invalid inputs without this test are those that JSON cannot express', () => {
  expect(sayable).toHaveLength(badInputs.length - unsayable.length)
})

const paged = operations.filter(([, { items }]) => items !== undefined)

test.each(paged)('%s answers 400 to impossible page numbers', async (_, operation) => {
  const names = Object.fromEntries(operation.pathKeys.map((key) => [key, 'x']))
  for (const key of ['page', 'limit']) {
    for (const value of ['0', '-1', '1.5', 'one', '', '1e2', ' 1', '99999999999999999999']) {
      const { status, message } = await sendInput(operation, { ...names, [key]: value })
      expect({ value, status }).toEqual({ value, status: 400 })
      expect(message).toMatch(new RegExp(`^${key}: .`))
    }
  }
})

const withBody = operations.filter(([, { method }]) => method === 'POST' || method === 'PATCH')

test.each(withBody)('%s answers 400 to a body that is not a JSON object', async (_, operation) => {
  const target = operation.path.replace(/\{\w+\}/g, 'x')
  for (const body of ['{"name":', '[]', '"text"', '7', 'null', '<xml/>']) {
    const { status, message } = await send(operation.method, target, body)
    expect({ body, status, message }).toEqual({ body, status: 400, message: 'The body must be a JSON object.' })
  }
})

test.each(operations)('%s answers 401 before any other check', async (_, operation) => {
  const target = operation.path.replace(/\{\w+\}/g, 'x')
  const right = `token ${TOKEN}`
  const wrong = [
    'zebra',
    'token zebra',
    'token ',
    TOKEN,
    `Bearer ${TOKEN}`,
    `${right}zebra`,
    `token  ${TOKEN}`,
    `Token ${TOKEN}`,
  ]
  // Only the operation itself can check the delete token.
  for (const authorization of operation.auth === 'token' ? ['', ...wrong] : ['']) {
    const { status, message } = await send(operation.method, `${target}?unheard_of=1`, undefined, { authorization })
    expect({ authorization, status }).toEqual({ authorization, status: 401 })
    expect(message).toContain('Authorization')
    expect(message).not.toContain('zebra')
  }
})
