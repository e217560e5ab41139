// A backend with a store, in plain JavaScript. The test fills its disk and kills it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMatchmaker, openStore } from '@muster/matchmaker'

const { path, life, joins, fsync } = JSON.parse(process.argv[2])
const deploy = { application: 'game', version: '1' }
const never = () => new Promise(() => {})
const store = await openStore({ path, fsync, compactAtBytes: 50_000 })
const matchmaker = createMatchmaker({
  deployments: { create: never, get: never, stop: never, list: never },
  // The rules forbid every match.
  queues: [{ name: 'crowd', matchSize: 2, rules: [{ kind: 'equal', attribute: 'self' }], deploy }],
  store,
  tickMs: 25,
})
/** Resolves once the operating system has the message. Then it arrives even if this process is killed. */
const tell = (message) => new Promise((resolve) => process.send(message, resolve))
matchmaker.on('problem', ({ during, error }) => void tell({ kind: 'problem', during, error: String(error) }))
tell({ kind: 'began', ids: matchmaker.exportTickets().tickets.map(({ id }) => id) })
matchmaker.start()
process.on('disconnect', () => process.exit(0))
const waiting = []
for (let nth = 0; nth < joins; nth += 1) {
  try {
    const id = `${life}-${nth}`
    matchmaker.createTicket({ id, queue: 'crowd', players: [{ id, ip: '192.0.2.1', attributes: { self: id } }] })
    waiting.push(id)
    tell({ kind: 'created', id, at: Date.now() })
    // Some tickets are cancelled, even while the disk is full.
    if (nth % 3 !== 0) continue
    const leaving = waiting.shift()
    // Announce the cancel first. Otherwise the process might die in between, and the test would miss the ticket.
    await tell({ kind: 'leaving', id: leaving })
    matchmaker.cancelTicket(leaving)
    tell({ kind: 'cancelled', id: leaving, at: Date.now() })
  } catch (error) {
    tell({ kind: 'refused', error: error.name })
  } finally {
    if (nth % 20 === 0) await sleep(5)
  }
}
await sleep(1 << 30)
