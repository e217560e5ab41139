import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Random } from '@muster/core/clock'
import { growingTo, newId } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/**
 * Creates and verifies the tokens that identify game servers. Tokens are derived from the master secret and the id of
 * the attempt that creates the server. So they are not stored, and each process with the same master secret accepts
 * them, even after a restart. The deployment service only passes the token on as a hidden environment variable. (All
 * of this is our choice.)
 */
export type ServerKeys = ReturnType<typeof createServerKeys>

/** Creates a master secret: about 200 random bits as 42 characters. */
export const newSecret = (random: Random): string => newId(random) + newId(random)

/** Bytes of a token's signature. 128 bits cannot be guessed. */
const SIGNATURE_BYTES = 16
/** Maximum number of cached verified tokens (our choice). Each request verifies its token before and after its body. */
const REMEMBERED = 1000
const SHAPE = /^([\w-]{1,57})\.([\w-]{22})$/

/** AES-256-GCM: bytes of the nonce before the ciphertext, and of the authentication tag after it. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Returns the key of a server's join tokens, HMAC-SHA256(server token, `muster-join-1`). The server can derive it too.
 */
export const joinKeyOf = (token: string): Uint8Array => createHmac('sha256', token).update('muster-join-1').digest()

/** @param master returns the master secret, at least 32 bytes. Called when a key is first needed */
export function createServerKeys(master: () => string | Uint8Array) {
  const derived = new Map<string, Uint8Array>()
  /** Returns the key for a purpose, derived from the master secret. */
  const keyFor = (use: string): Uint8Array => {
    const known = derived.get(use)
    if (known !== undefined) return known
    const key = new Uint8Array(hkdfSync('sha256', master(), '', use, 32))
    derived.set(use, key)
    return key
  }
  const signatureOf = (credential: string): Buffer =>
    createHmac('sha256', keyFor('muster-server-tokens-1')).update(credential).digest().subarray(0, SIGNATURE_BYTES)
  const tokenOf = (credential: string) => `${credential}.${signatureOf(credential).toString('base64url')}`
  const proven = new LRUCache<string, string>(growingTo(REMEMBERED))
  return {
    /**
     * Returns the token of a server, MUSTER_SERVER_TOKEN: `<credential>.<signature>`, at most 80 characters of A–Z,
     * a–z, 0–9, `_`, `-` and one `.`.
     * @param credential see `credentialOf`
     */
    tokenOf,
    /** Returns the credential in a token. Undefined if the token is invalid. Compares in constant time. */
    credentialIn: (token: string) => {
      const known = proven.get(token)
      if (known !== undefined) return known
      const [, credential, signature] = SHAPE.exec(token) ?? []
      if (credential === undefined || signature === undefined) return undefined
      if (!timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(credential))) return undefined
      proven.set(token, credential)
      return credential
    },
    /**
     * Returns the id of an enrolled process, 112 bits. A restarted process has another `instance`, and so another id.
     */
    processOf: (key: string, name: string, instance: string) =>
      `e-${createHmac('sha256', keyFor('muster-enrolled-1'))
        .update(JSON.stringify([key, name, instance]))
        .digest('hex')
        .slice(0, 28)}`,
    /**
     * Returns the text of the datagram that tests a server's address. Only Muster can create it. The server learns 8
     * of the last 30 characters in advance, so the other 22 prove that it received the datagram.
     */
    knockOf: (id: string, port: string) =>
      `muster-knock-${createHmac('sha256', keyFor('muster-knocks-1'))
        .update(JSON.stringify([id, port]))
        .digest('base64url')
        .slice(0, 30)}`,
    /** Returns the key that signs the join tokens of a server, see `joinKeyOf`. */
    joinKeyOf: (credential: string): Uint8Array => joinKeyOf(tokenOf(credential)),
    /** Returns the 32 secret bytes of the key that signs join tokens with `EdDSA`. */
    joinSeed: (): Uint8Array => keyFor('muster-join-eddsa-1'),
    /** Encrypts a string for the store. Only processes with the same master secret can decrypt it. */
    seal: (text: string) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor('muster-sealed-1'), nonce)
      const hidden = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([hidden, cipher.getAuthTag()]).toString('base64url')
    },
    /** Decrypts a string. Undefined if it was encrypted with another master secret, or was changed. */
    unseal: (sealed: string) => {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', keyFor('muster-sealed-1'), bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
      try {
        return text + decipher.final('utf8')
      } catch {
        return undefined
      }
    },
  }
}
