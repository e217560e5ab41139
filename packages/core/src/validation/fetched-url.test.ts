import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { fetchedUrl } from './fetched-url.js'

const faultOf = (url: string) => fetchedUrl.safeParse(url).error?.issues[0]?.message

test('the ports that fetch refuses are those that undici lists', () => {
  const file = createRequire(import.meta.url)
    .resolve('undici')
    .replace(/index\.js$/, 'lib/web/fetch/constants.js')
  const [, list = ''] = /badPorts = [^(]*\(\[([^\]]*)\]/.exec(readFileSync(file, 'utf8')) ?? []
  const listed = [...list.matchAll(/\d+/g)].map(([port]) => Number(port))
  expect(listed.length).toBeGreaterThan(80)
  const refused = Array.from({ length: 65_536 }, (_, port) => port).filter(
    (port) => faultOf(`https://game.example.com:${port}/results`) !== undefined,
  )
  expect(refused).toEqual([...new Set([0, ...listed])])
})

test('fetch refuses blocked ports, and URLs with a user or password, before it connects', async () => {
  for (const url of ['http://127.0.0.1:6000/', 'http://127.0.0.1:22/', 'http://ann:secret@127.0.0.1:8080/']) {
    expect(faultOf(url)).toMatch(/^must (not )?have /)
    const { message, cause } = (await fetch(url).catch((error: unknown) => error)) as Error
    expect(`${message} ${String(cause)}`).toMatch(/bad port|includes credentials/)
  }
  expect(faultOf('https://game.example.com/results')).toBeUndefined()
})
