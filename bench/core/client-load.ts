/**
 * An HTTP client under load, in a process of its own, so that its garbage is not charged to another client. A message
 * states a number of requests. The process makes them, 50 at a time, and answers with the microseconds of CPU time of
 * each. Each request reads another deployment, so that no response can be shared.
 */
import { httpClients, inFlight, type HttpClientName } from './http-clients.js'

const [name, origin] = process.argv.slice(2) as [HttpClientName, string]
const get = await httpClients[name](origin)
let made = 0

async function cpuPerRequest(requests: number): Promise<number> {
  const last = made + requests
  const worker = async () => {
    while (made < last) {
      made += 1
      await get(`r${made}`)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: inFlight }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

process.on('message', (requests: number) => void cpuPerRequest(requests).then((spent) => process.send?.(spent)))
process.on('disconnect', () => process.exit())
