/** Tests the allocator as a process on loopback, with a stub of ssh that keeps a file for each unit. */
import { once } from 'node:events'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { InvalidInput, ServerError } from '@muster/core'
import { createHttpAllocator } from '@muster/matchmaker/internal'
import { expect, onTestFinished, test } from 'vitest'
import { call, newFolder, openAllocator, wanted } from './allocator-process.fixture.js'

/** A stub of systemd on machines: a unit runs while its file exists. One machine hangs. */
const STUB = `#!/bin/sh
cd "$(dirname "$0")"
test "$1" = hangs.example.com && exec sleep 60
units=$(printf %s "$2" | grep -o 'muster-[a-z0-9-]*' | awk '!seen[$0]++')
case "$2" in
*systemd-run*) cat > "$units.input"; test -e "$units" || { touch "$units"; echo "$units" >> started; } ;;
*'systemctl stop'*) rm -f "$units" ;;
*'systemctl is-active'*) for unit in $units; do test -e "$unit" && echo active || echo inactive; done ;;
esac
`

async function open(folder: string, { machines = 'fra-1.example.com', remoteMs = 60_000 } = {}) {
  await writeFile(join(folder, 'remote'), STUB)
  await chmod(join(folder, 'remote'), 0o700)
  const env = { MACHINES: machines, REMOTE: join(folder, 'remote'), REMOTE_MS: `${remoteMs}` }
  return openAllocator('allocator', { ...env, STATE: join(folder, 'state.json') })
}

test('the systemd allocator starts one unit for an id, finds it after a restart, and stops it for good', async () => {
  const folder = await newFolder()
  const before = await open(folder)
  expect(await before.allocator.poll(['a'], call)).toEqual([])
  await before.allocator.allocate(wanted('a'), call)
  await before.allocator.allocate(wanted('a'), call)
  expect(await readFile(join(folder, 'started'), 'utf8')).toBe('muster-a\n')
  const input = await readFile(join(folder, 'muster-a.input'), 'utf8')
  expect(input).toBe('MUSTER_SERVER_TOKEN="a \\"token\\""\nSERVICE_PORT_GAME_INTERNAL="31000"')
  await before.close()

  const { allocator, port } = await open(folder)
  await allocator.allocate(wanted('b'), call)
  const at = (id: string, number: number) => {
    const ports = { game: { port: number, protocol: 'UDP' } }
    return { id, status: 'ready', host: 'fra-1.example.com', ports }
  }
  expect(await allocator.poll(['a', 'never', 'b'], call)).toEqual([at('a', 31_000), at('b', 31_001)])
  await allocator.stop('a', call)
  await allocator.stop('a', call)
  await allocator.stop('never', call)
  for (const id of ['a', 'never'])
    await expect(allocator.allocate(wanted(id), call)).rejects.toBeInstanceOf(InvalidInput)
  expect((await readdir(folder)).filter((name) => /^muster-\w+$/.test(name))).toEqual(['muster-b'])
  for (const name of ['state.json', 'state.json.stopped'])
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  const forged = await fetch(`http://127.0.0.1:${port}/stop`, { method: 'POST', body: '{"id":"b"}' })
  expect(forged.status).toBe(401)
  await expect(allocator.stop('$(reboot)', call)).rejects.toBeInstanceOf(InvalidInput)
})

test('a signed request that a stranger has captured works for no other path', async () => {
  const folder = await newFolder()
  const { allocator, port, secret } = await open(folder)
  await allocator.allocate(wanted('a'), call)
  let captured: { readonly headers: IncomingHttpHeaders; readonly body: string } | undefined
  const log = createServer((request, response) => {
    void text(request).then((body) => {
      captured = { headers: request.headers, body }
      response.writeHead(200).end('{"servers":[]}')
    })
  })
  await once(log.listen(0, '127.0.0.1'), 'listening')
  const through = createHttpAllocator({ url: `http://127.0.0.1:${(log.address() as AddressInfo).port}`, secret })
  onTestFinished(async () => {
    await through.close()
    log.close()
  })
  const answers: number[] = []
  const calls = [() => through.allocate(wanted('a'), call), () => through.poll(['a'], call)]
  for (const send of calls) {
    await send()
    for (const path of ['allocate', 'poll', 'stop']) {
      const { headers, body } = captured ?? {}
      const signed = Object.entries(headers ?? {}).filter(([name]) => name.startsWith('webhook-')) as [string, string][]
      const url = `http://127.0.0.1:${port}/${path}`
      answers.push((await fetch(url, { method: 'POST', headers: signed, body: body ?? null })).status)
    }
  }
  expect(answers).toEqual([200, 401, 401, 401, 200, 401])
  expect(await allocator.poll(['a'], call)).toMatchObject([{ id: 'a', status: 'ready' }])
})

test('a broken or endless request body from a stranger does not end the allocator', async () => {
  const { allocator, port } = await open(await newFolder())
  const stranger = async () => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write('POST /poll HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n{')
    return socket
  }
  const [gone, endless] = [await stranger(), await stranger()]
  await allocator.poll([], call)
  gone.destroy()
  const closed = new Promise((resolve) => endless.on('close', resolve))
  const writing = setInterval(() => endless.write('x'.repeat(2 ** 18)), 1)
  await closed
  clearInterval(writing)
  expect(await allocator.poll([], call)).toEqual([])
})

test('an allocator machine that hangs delays no other machine, and the state of its servers is unknown', async () => {
  const folder = await newFolder()
  const machines = 'hangs.example.com,fra-1.example.com'
  const { allocator, close } = await open(folder, { machines })
  let isAnswered = false
  const hanging = allocator.allocate(wanted('a'), { timeoutMs: 60_000 }).catch(() => {
    isAnswered = true
  })
  await allocator.allocate(wanted('b'), call)
  expect(await allocator.poll(['b'], call)).toMatchObject([{ id: 'b', status: 'ready' }])
  await allocator.stop('c', call)
  expect(isAnswered).toBe(false)
  await close()
  await hanging

  const later = await open(folder, { machines, remoteMs: 4000 })
  await expect(later.allocator.allocate(wanted('a'), call)).rejects.toBeInstanceOf(ServerError)
  expect(await later.allocator.poll(['a', 'b'], call)).toMatchObject([
    { id: 'a', status: 'unclear' },
    { id: 'b', status: 'ready' },
  ])
})
