import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SERVER_STATES } from './server-states.js'

test('docs/servers.md has the states as the code has them', () => {
  const page = readFileSync(new URL('../../../../docs/servers.md', import.meta.url), 'utf8')
  const states = Object.entries(SERVER_STATES)
  const rows = states.map(([state, { meaning, next }]) => {
    const steps = Object.entries(next).map(([to, by]) => `${to}: ${by}`)
    return `| ${state} | ${meaning} | ${steps.join('<br>')} |`
  })
  const table = page.split('\n').filter((line) => /^\| [A-Z]+ \|/.test(line))
  expect(table).toEqual(rows)
})

test('every state is reached from STARTING, and each step leads to a state that there is', () => {
  const reached = new Set(['STARTING'])
  for (const state of reached) for (const next of Object.keys(stateOf(state).next)) reached.add(next)
  expect([...reached].toSorted()).toEqual(Object.keys(SERVER_STATES).toSorted())
})

const stateOf = (state: string) => {
  const facts = Object.entries(SERVER_STATES).find(([name]) => name === state)?.[1]
  if (facts === undefined) throw new Error(`no such state: ${state}`)
  return facts
}
