import { describe, expect, test } from 'vitest'
import { skipsRedis } from './find.js'
import { startRedisServer } from './start.js'

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.skipIf(skipsRedis())('a started redis-server', () => {
  test('a started redis-server can be killed and restarted on the same data, and leaves no file behind', async () => {
    const server = await startRedisServer({ appendOnly: 'always' })
    const { pid } = server
    expect(await server.ask('SET key value')).toBe('+OK\r\n')
    await server.kill()
    expect(isAlive(pid)).toBe(false)
    await server.restart()
    expect(server.pid).not.toBe(pid)
    expect(await server.ask('GET key')).toBe('$5\r\nvalue\r\n')
    await server.close()
    expect(isAlive(server.pid)).toBe(false)
  })

  test('a redis-server that does not start reports the reason', async () => {
    await expect(startRedisServer({ settings: ['--no-such-setting', 'x'] })).rejects.toThrow(/no-such-setting/i)
  })
})
