import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'

export interface SigningKey {
  readonly id: string | undefined
  readonly publicKey: JWK
  /** Signs claims, and adds an `exp` unless they have one. */
  readonly sign: (claims: JWTPayload, expiresAt?: number) => Promise<string>
}

export async function createSigningKey(id?: string, algorithm = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return {
    id,
    publicKey: { ...(await exportJWK(publicKey as CryptoKey)), ...(id !== undefined && { kid: id }), alg: algorithm },
    sign: (claims, expiresAt) =>
      signed(claims, privateKey, { alg: algorithm, ...(id !== undefined && { kid: id }) }, expiresAt),
  }
}

export const signShared = (claims: JWTPayload, secret: string, expiresAt?: number, alg = 'HS256'): Promise<string> =>
  signed(claims, new TextEncoder().encode(secret), { alg }, expiresAt)

function signed(
  claims: JWTPayload,
  key: CryptoKey | Uint8Array,
  header: { readonly alg: string; readonly kid?: string },
  expiresAt: number | undefined,
): Promise<string> {
  const token = new SignJWT(claims).setProtectedHeader(header)
  return (expiresAt === undefined ? token : token.setExpirationTime(expiresAt)).sign(key)
}

/** An identity provider that serves its keys at one address, and counts the requests. */
export async function openKeyServer(answer: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
