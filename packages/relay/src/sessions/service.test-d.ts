import type { Client } from '@muster/core'
import { expectTypeOf, test } from 'vitest'
import type { RelayService } from './service.js'

test('the client is a relay service', () => {
  expectTypeOf<Client['relays']>().toExtend<RelayService>()
})
