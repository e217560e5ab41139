import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commandOf, findRedisServer, skipsRedis } from './find.js'

describe('the redis-server for tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-find-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const put = (path: string) => {
    const file = join(folder, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, '')
    return file
  }
  const named = put('named/my-redis')
  const installed = put('bin/redis-server')
  const fetched = put('cache/muster/redis/usr/bin/redis-server')
  put('cache/muster/redis/usr/lib/some-architecture/liblzf.so.1')
  put('cache/muster/redis/usr/lib/some-architecture/pulseaudio/libpulsecommon.so')
  const env = {
    MUSTER_REDIS_SERVER: named,
    PATH: `/nowhere:${join(folder, 'bin')}`,
    XDG_CACHE_HOME: join(folder, 'cache'),
  }

  test('tests use the named redis-server, or that on the PATH, or that in the cache, in this order', () => {
    expect(findRedisServer(env)?.path).toBe(named)
    expect(findRedisServer({ ...env, MUSTER_REDIS_SERVER: undefined })?.path).toBe(installed)
    expect(findRedisServer({ ...env, MUSTER_REDIS_SERVER: '', PATH: '' })).toEqual({
      path: fetched,
      env: { LD_LIBRARY_PATH: expect.stringContaining(join('usr', 'lib', 'some-architecture', 'pulseaudio')) },
    })
    expect(findRedisServer({ XDG_CACHE_HOME: folder })).toBeUndefined()
  })

  test('redis-server for tests comes with a command that starts it in a shell, with its libraries', () => {
    const binary = { path: '/cache/redis-server', env: { LD_LIBRARY_PATH: '/cache/lib' } }
    expect(commandOf(binary)).toBe('LD_LIBRARY_PATH=/cache/lib /cache/redis-server')
    expect(commandOf({ path: installed, env: {} })).toBe(installed)
  })

  test('a named redis-server that does not exist is an error', () => {
    expect(() => findRedisServer({ MUSTER_REDIS_SERVER: '/no/redis' })).toThrow('/no/redis, which does not exist')
  })

  test('a missing redis-server skips the tests, except in CI', () => {
    expect(skipsRedis({ XDG_CACHE_HOME: folder })).toBe(true)
    expect(skipsRedis({ XDG_CACHE_HOME: folder, CI: 'true' })).toBe(false)
    expect(skipsRedis(env)).toBe(false)
  })
})
