import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHidden, scrub, scrubEnd, secretsIn } from './redact.js'

describe('secretsIn', () => {
  test('secretsIn finds the values of secret, address and webhook keys at any depth', () => {
    const input = {
      secret_access_key: 'bucket-secret',
      private_token: 'registry-secret',
      authorization: 'delete-token',
      authorization_token: 3500589645,
      users: [{ user_data: { ip_address: '198.51.100.7' } }, { ip: '2001:db8::7' }],
      ip_list: ['192.0.2.1', '192.0.2.2'],
      user_ip: '192.0.2.3',
      webhook_on_ready: { url: 'https://backend.example/hook/secret-part' },
      name: 'shown',
    }
    expect(secretsIn(input)).toEqual([
      'bucket-secret',
      'registry-secret',
      'delete-token',
      '3500589645',
      '198.51.100.7',
      '2001:db8::7',
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
      'https://backend.example/hook/secret-part',
    ])
  })

  test('secretsIn finds the values of variables marked as hidden, and not those of other variables', () => {
    const variables = [
      { key: 'A', value: 'hidden-a', is_hidden: true },
      { key: 'B', value: 'open-b', is_hidden: false },
      { key: 'C', value: 'secret-c', is_secret: true },
    ]
    expect(secretsIn({ envs: variables })).toEqual(['hidden-a', 'secret-c'])
  })

  test.each([undefined, null, 7, 'text', []])('secretsIn finds no secret in the value %j', (value) =>
    expect(secretsIn(value)).toEqual([]),
  )
})

test('isHidden is true for the keys whose values are secret', () => {
  expect(['private_token', 'ip_address', 'url', 'name'].map(isHidden)).toEqual([true, true, true, false])
})

describe('scrub', () => {
  test('scrub removes a secret in plain, JSON-escaped and percent-encoded form and in any letter case', () => {
    const secret = 'Pass"word/1'
    expect(scrub(`bad Pass"word/1 or "Pass\\"word/1" or Pass%22word%2F1 or PASS"WORD/1`, [secret])).toBe(
      'bad [redacted] or "[redacted]" or [redacted] or [redacted]',
    )
  })

  test.each([
    [
      't',
      'listening at t, token=t&a=1, "t", /t/ and T',
      'listening at [redacted], token=[redacted]&a=1, "[redacted]", /[redacted]/ and [redacted]',
    ],
    ['dev', 'muster dev: Bearer dev:ann for a developer', 'muster [redacted]: Bearer [redacted]:ann for a developer'],
    ['test', 'latest, test', 'la[redacted], [redacted]'],
    ['é1', 'é1 aé1', '[redacted] aé1'],
    ['+', 'a+b + %2B', 'a+b [redacted] [redacted]'],
  ])('scrub removes the secret %s if it stands alone, and within words if it is long enough', (secret, text, clean) =>
    expect(scrub(text, [secret])).toBe(clean),
  )

  test.each([
    ['no route to 198.51.100.7.', 'no route to [address].'],
    ['198.51.100.7:8080 refused', '[address]:8080 refused'],
    ['user 2001:db8::1 unknown', 'user [address] unknown'],
    ['user [2001:db8::1]:443: unknown', 'user [[address]]:443: unknown'],
    ['ip:2001:DB8:0:0:0:0:0:1', 'ip:[address]'],
    ['from ::ffff:192.0.2.1.', 'from [address].'],
    ['Some::Name and std::string', 'Some::Name and std::string'],
    ['at 12:30:45.123, image 1.2.3, 00:1a:2b:3c:4d:5e', 'at 12:30:45.123, image 1.2.3, 00:1a:2b:3c:4d:5e'],
    ['', ''],
  ])('scrub turns %j into %j', (text, scrubbed) => expect(scrub(text)).toBe(scrubbed))

  test.each([
    ['full stops between colons', `::${'.'.repeat(400_000)}a`],
    ['pairs', 'a:'.repeat(200_000)],
    ['quads', '1.2.3.4:'.repeat(50_000)],
    ['digits', '123.'.repeat(100_000)],
    ['hexadecimal', 'a'.repeat(400_000)],
    ['colons', ': '.repeat(200_000)],
  ])('scrub takes no more time per character for a long text of %s', (_, text) => {
    const began = performance.now()
    scrub(text, ['a:a:a:a:', '::::::'])
    // Takes some 10 ms. It took 20 minutes while the time grew with the square of the length.
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('scrub removes a long run of the characters of addresses completely', () => {
    expect(scrub(`from ${'2001:db8::1:'.repeat(20)}.`)).toBe('from [address]')
  })

  test('scrub leaves a text unchanged for an empty secret', () => expect(scrub('text', [''])).toBe('text'))

  test('scrub removes secrets of at least four characters anywhere, and shorter secrets that stand alone', () => {
    // Secrets without letters of '[redacted]', so that no secret occurs in that mark.
    const secret = fc.string({
      unit: fc.constantFrom('x', 'Y', '0', '"', '\\', '/', '%', '$', '*', 'é', '\ud800'),
      minLength: 1,
      maxLength: 8,
    })
    fc.assert(
      fc.property(
        fc.array(fc.oneof(secret, fc.constantFrom(' ', 'and', ':'))),
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        (parts, secrets) => {
          const text = [...parts, ...secrets].join(' ')
          const scrubbed = scrub(text, secrets).toLowerCase()
          for (const one of secrets)
            expect(one.length > 3 ? scrubbed : scrubbed.split(' ')).not.toContain(one.toLowerCase())
        },
      ),
      { numRuns: 300 },
    )
  })

  test('scrub leaves no IPv4 or IPv6 address behind', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.constantFrom('', ' ', '(', '"', "'", '='), (address, around) => {
        expect(scrub(`from ${around}${address}${around} to`)).toBe(`from ${around}[address]${around} to`)
      }),
      { numRuns: 300 },
    )
  })
})

test('scrub removes a secret of any length without an error', () => {
  for (const length of [4096, 8192, 8193, 40_000]) {
    const secret = 'k3y/'.repeat(length / 4)
    expect(scrub(`a ${secret} b ${encodeURIComponent(secret)} short`, [secret, 'short'])).toBe(
      'a [redacted] b [redacted] [redacted]',
    )
  }
})

test('scrubEnd does not end a shortened text with part of a secret', () => {
  const secret = 'abcdefghij'.repeat(50)
  for (let moved = 0; moved < 600; moved += 13) {
    const end = scrubEnd(`${secret}\n`.repeat(40) + '-'.repeat(moved), [secret], 1000)
    expect(end.replaceAll('[redacted]', '')).toMatch(/^[^a-j]*$/)
    expect(end.length).toBeLessThanOrEqual(1000)
  }
  expect(scrubEnd('short text', [secret], 1000)).toBe('short text')
})
