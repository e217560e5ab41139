import { expect, test } from 'vitest'
import { connectSnippet, deploySnippet } from './deployment-table.js'

const connect = { baseUrl: 'http://127.0.0.1:8080', token: 'dev' }
/** Returns the text that a user copies from the markup. */
const copied = (markup: string) =>
  markup.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

test('the page of an empty emulator shows code to connect', () => {
  const code = copied(connectSnippet(connect).markup)
  expect(code).toContain("const client = createClient({ baseUrl: 'http://127.0.0.1:8080', token: 'dev' })")
  expect(code).toContain('await client.versions.create({')
})

test('a secret token is not shown in the code to connect', () => {
  expect(connectSnippet({ ...connect, token: null }).markup).toContain('token: process.env.API_TOKEN')
})

test('names are quoted in the code to connect', () => {
  const code = copied(deploySnippet(connect, { application: `a'b\\`, version: '1.0' }).markup)
  expect(code).toContain(String.raw`application: 'a\'b\\',`)
})
