/** Checks that the READMEs list the events of the packages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Returns the quoted names in the first column of the rows of a page's tables. */
const namedIn = (page: string) =>
  page.split('\n').flatMap((line) => {
    const [, cell = ''] = /^\| (`.*?) \| /.exec(line) ?? []
    return Array.from(cell.matchAll(/`([\w.-]+)`/g), ([, name = '']) => name)
  })

test('the README of the matchmaker lists every event', () => {
  const sources = ['events.ts', 'tickets/ticket.ts'].map((path) => read(`packages/matchmaker/src/${path}`))
  const events = sources.flatMap((source) => {
    const [, body = ''] = /^export interface (?:Matchmaker|Ticket)Events\b.*?\{$([\s\S]*?)^\}/m.exec(source) ?? []
    return Array.from(body.matchAll(/^ {2}(\w+):/gm), ([, name = '']) => name)
  })
  expect(events.length).toBeGreaterThan(25)
  const listed = namedIn(/^## Events$([\s\S]*?)^## /m.exec(read('packages/matchmaker/README.md'))?.[1] ?? '')
  expect(listed.toSorted()).toEqual(events.toSorted())
})

test('the README of the relay lists every event of a lobby', () => {
  const [, body = ''] = /^export type Happening =$([\s\S]*?)^$/m.exec(read('packages/relay/src/lobby/lobby.ts')) ?? []
  const events = Array.from(body.matchAll(/type: '([\w.-]+)'/g), ([, name = '']) => name)
  expect(events.length).toBeGreaterThan(15)
  const listed = namedIn(/^## Lobbies$([\s\S]*?)^### /m.exec(read('packages/relay/README.md'))?.[1] ?? '')
  expect(listed.toSorted()).toEqual([...events, 'snapshot'].toSorted())
})
