/**
 * Tests the game client in any runtime: `<runtime> game-client.mjs <address of a ticket API> <name>`. Two players find
 * each other, and one of them returns as after a reload. It must end by itself, so that an open connection or timer is
 * noticed.
 */
import assert from 'node:assert/strict'
import { createMuster, MusterError } from '@muster/client'

const [url, name] = process.argv.slice(2)
const connect = (player) => createMuster({ url, token: () => `${name}-${player}` })

const ann = connect('ann')
const ben = connect('ben')
const phases = []
ann.subscribe(({ phase }) => phases.push(phase))
assert.equal((await ann.resume()).phase, 'idle')
const [forAnn, forBen] = await Promise.all([ann.play({ profile: 'duel' }), ben.play({ profile: 'duel' })])
assert.equal(forAnn.fqdn, forBen.fqdn)
assert.notEqual(forAnn.joinToken, forBen.joinToken)
assert.equal(phases.at(-1), 'assigned')

const again = connect('ann')
assert.equal((await again.resume()).phase, 'assigned')

const cat = connect('cat')
const search = cat.play({ profile: 'duel' })
search.catch(() => {})
await cat.resume()
await search.cancel()
assert.deepEqual(cat.state, { phase: 'ended', reason: 'cancelled' })
await assert.rejects(cat.play({ profile: 'nowhere' }), (error) => {
  assert.ok(error instanceof MusterError && error.code === 'unknown-profile', error.message)
  return true
})
for (const one of [ann, ben, again, cat]) one.close()
process.stdout.write(`${name}: the game's client is as in Node\n`)
