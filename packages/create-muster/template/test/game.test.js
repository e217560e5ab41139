// Two players play end to end: with Muster and muster.yaml, an emulator of the service, and processes of server.js.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createMuster } from '@muster/client'
import { WebSocket } from 'ws'

const program = fileURLToPath(new URL('cli/main.js', import.meta.resolve('@muster/server')))
const options = ['-c', 'muster.yaml', '--token', 'of-this-test', '--port', '0', '--emulator-port', '0']
let dev
let url

before(async () => {
  const stdio = ['ignore', 'pipe', 'inherit']
  dev = spawn(process.execPath, [program, 'dev', ...options, '--', process.execPath, 'server.js'], { stdio })
  await new Promise((resolve, reject) => {
    createInterface({ input: dev.stdout }).on('line', (line) => {
      url ??= /^ +API +(http:\S+)/.exec(line)?.[1]
      if (url !== undefined) resolve()
    })
    dev.once('exit', (code) => reject(new Error(`muster dev ended with ${code}`)))
  })
})

after(async () => {
  dev.kill()
  await once(dev, 'exit')
})

/** Plays a match, and taps `wanted` times once both players are there. Resolves with the winner. */
async function play(name, wanted) {
  const muster = createMuster({ url, token: `of-this-test:${name}` })
  const { fqdn, ports, joinToken } = await muster.play({ profile: 'duel' })
  const socket = new WebSocket(`ws://${fqdn}:${ports.game.external}`)
  socket.on('open', () => socket.send(joinToken))
  let tapped = 0
  let now
  for await (const [data] of on(socket, 'message', { close: ['close'] })) {
    now = JSON.parse(String(data))
    if (Object.keys(now.taps).length < 2) continue
    for (; tapped < wanted; tapped += 1) socket.send('tap')
  }
  muster.close()
  return now.winner
}

test(
  'two players of the template game meet, the faster tapper wins, and both may play again',
  { timeout: 60_000 },
  async () => {
    assert.deepEqual(await Promise.all([play('ann', 20), play('ben', 0)]), ['ann', 'ann'])
    assert.deepEqual(await Promise.all([play('ann', 0), play('ben', 20)]), ['ben', 'ben'])
  },
)
