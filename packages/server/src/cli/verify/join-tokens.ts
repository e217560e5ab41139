import { createHmac } from 'node:crypto'

type Claims = Readonly<Record<string, unknown>>

/** Tokens that a server has to refuse, made of a good one. Each differs in one thing alone. */
export function wrongTokens(good: string, key: string): Readonly<Record<string, string>> {
  const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString()) as Claims
  const hour = 3600
  return {
    'a token that is signed by another key': signed(claims, Buffer.alloc(32, 7)),
    'a token without a signature': `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
    'an expired token': signed(
      { ...claims, iat: Number(claims['iat']) - hour, exp: Number(claims['exp']) - hour },
      Buffer.from(key, 'base64url'),
    ),
    'a token of another server': signed({ ...claims, aud: 'another' }, Buffer.from(key, 'base64url')),
    'a token of another match': signed({ ...claims, mid: 'another' }, Buffer.from(key, 'base64url')),
  }
}

function signed(claims: Claims, key: Uint8Array): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
