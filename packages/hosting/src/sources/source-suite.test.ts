/**
 * Every kind of source passes the same scenes: the deployment service, an allocator, an allocator over HTTP, and local
 * processes.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { scenes } from './source-scenes.fixture.js'
import { openWorlds } from './source-world.fixture.js'

const { kinds, close } = await openWorlds()
afterAll(close)

describe.each(Object.entries(kinds))('a source of the kind %s', (_, kind) => {
  test.each(Object.entries(scenes))('a server source %s', async (__, scene) => {
    await expect(scene(kind)).resolves.toBeUndefined()
  })
})
