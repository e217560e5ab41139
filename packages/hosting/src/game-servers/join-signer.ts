import type { Clock } from '@muster/core/clock'
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { eddsaHeader, keyIdOf, type JoinAlgorithm, type JoinGrant, joinClaims, signJoinToken } from './join-tokens.js'
import type { ServerKeys } from './server-keys.js'

/** A public key as JWK (RFC 8037). */
interface JoinPublicKey {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** The 32 bytes of the key in base64url. */
  readonly x: string
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

/** The public keys with which anyone can verify join tokens, as JWK set (RFC 7517). Empty with `HS256`. */
export interface JoinKeySet {
  readonly keys: readonly JoinPublicKey[]
}

/** Signs join tokens with keys derived from the master secret. */
export interface JoinSigner {
  readonly alg: JoinAlgorithm
  /** Creates a join token, valid from now by the wall clock. */
  grant(grant: JoinGrant, clock: Pick<Clock, 'now' | 'wallStepMs'>): string
  /**
   * Returns the 32 bytes of the key that verifies a server's join tokens: a secret with `HS256`, else the public key.
   */
  keyOf(credential: string): Uint8Array
  keySet(): JoinKeySet
}

/** The bytes of a PKCS #8 Ed25519 private key (RFC 8410) before its 32 secret bytes. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: Uint8Array
}

function keyPairOf(seed: Uint8Array): KeyPair {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: Buffer.from(x, 'base64url') }
}

/** Creates the signer for an algorithm. With `EdDSA`, all servers share one key pair. */
export function createJoinSigner(alg: JoinAlgorithm, keys: Pick<ServerKeys, 'joinKeyOf' | 'joinSeed'>): JoinSigner {
  if (alg === 'HS256')
    return {
      alg,
      grant: (grant, clock) => signJoinToken(joinClaims(grant, clock), keys.joinKeyOf(grant.server)),
      keyOf: keys.joinKeyOf,
      keySet: () => ({ keys: [] }),
    }
  let known: KeyPair | undefined
  const pair = () => (known ??= keyPairOf(keys.joinSeed()))
  return {
    alg,
    grant: (grant, clock) => {
      const { privateKey, publicKey } = pair()
      const payload = Buffer.from(JSON.stringify(joinClaims(grant, clock))).toString('base64url')
      const signed = `${eddsaHeader(publicKey)}.${payload}`
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
    },
    keyOf: () => pair().publicKey,
    keySet: () => {
      const { publicKey } = pair()
      const x = Buffer.from(publicKey).toString('base64url')
      return { keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid: keyIdOf(publicKey), alg: 'EdDSA', use: 'sig' }] }
    },
  }
}
