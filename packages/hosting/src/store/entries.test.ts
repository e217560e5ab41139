import { expect, test } from 'vitest'
import { createMemoryServerLog } from './server-log.js'

test('a server that is being stopped gets no players after a restart', async () => {
  const log = createMemoryServerLog()
  const serverId = 's1'
  const assignment = { fqdn: 'r1.example.com', publicIp: undefined, ports: {}, location: undefined }
  await log.append([
    { kind: 'server', serverId, queue: 'arena', pool: 'arena', tag: 'match-s1', at: 1 },
    { kind: 'sent', serverId, at: 1 },
    { kind: 'created', serverId, requestId: 'r1' },
    { kind: 'up', serverId, lastsMs: 1000, assignment },
  ])
  expect(await log.open()).toMatchObject({ servers: [{ isUp: true, lastsMs: 1000, assignment }] })
  await log.append([{ kind: 'dropped', serverId }])
  const [server] = (await log.open()).servers
  expect(server).toMatchObject({ isUp: false, dropped: true, requestId: 'r1' })
  expect(server).not.toHaveProperty('assignment')
  expect(server).not.toHaveProperty('lastsMs')
})
