import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'

/**
 * The tokens by which game servers are recognized. They are derived from one master secret and the tag of the
 * deployment, so nothing is stored to check one, and every process with the same master recognizes them, also after a
 * restart.
 *
 * Our choice throughout; the service only carries the token, as a hidden environment variable.
 */
export type ServerKeys = ReturnType<typeof createServerKeys>

/** Makes a master secret: about 200 random bits as 42 characters. */
export const newSecret = (random: Random): string => newId(random) + newId(random)

/** Bytes of a signature: 128 bits cannot be guessed. */
const SIGNATURE_BYTES = 16
const SHAPE = /^([\w-]{1,57})\.([\w-]{22})$/

/** AES-256-GCM: bytes of the nonce that comes first, and of the tag that comes last. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** HMAC-SHA256 with the server's token as key over `muster-join-1`: the server derives it without a request. */
export const joinKeyOf = (token: string): Uint8Array => createHmac('sha256', token).update('muster-join-1').digest()

/** @param master returns the master secret, at least 32 bytes; called when a token is first made or checked. */
export function createServerKeys(master: () => string | Uint8Array) {
  let root: Uint8Array | undefined
  const signatureOf = (credential: string): Buffer => {
    root ??= new Uint8Array(hkdfSync('sha256', master(), '', 'muster-server-tokens-1', 32))
    return createHmac('sha256', root).update(credential).digest().subarray(0, SIGNATURE_BYTES)
  }
  const sealingKey = () => new Uint8Array(hkdfSync('sha256', master(), '', 'muster-sealed-1', 32))
  const tokenOf = (credential: string) => `${credential}.${signatureOf(credential).toString('base64url')}`
  return {
    /**
     * The token of the server with this credential, `MUSTER_SERVER_TOKEN`: `<credential>.<signature>`, at most 80
     * characters of A–Z, a–z, 0–9, `_`, `-` and one `.`.
     * @param credential see `credentialOf`.
     */
    tokenOf,
    /** The credential that a token proves; undefined for any other text. Compares in constant time. */
    credentialIn: (token: string) => {
      const [, credential, signature] = SHAPE.exec(token) ?? []
      if (credential === undefined || signature === undefined) return undefined
      return timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(credential)) ? credential : undefined
    },
    /** Names a process that enrols, in the store: a restarted one is another. 112 bits. */
    processOf: (key: string, name: string, instance: string) =>
      `e-${createHmac('sha256', new Uint8Array(hkdfSync('sha256', master(), '', 'muster-enrolled-1', 32)))
        .update(JSON.stringify([key, name, instance]))
        .digest('hex')
        .slice(0, 28)}`,
    /** The text by which Muster knocks at a server. Nobody else can make it: 8 characters tell it, 22 prove it. */
    knockOf: (id: string, port: string) =>
      `muster-knock-${createHmac('sha256', new Uint8Array(hkdfSync('sha256', master(), '', 'muster-knocks-1', 32)))
        .update(JSON.stringify([id, port]))
        .digest('base64url')
        .slice(0, 30)}`,
    /** The key with which the join tokens of this server are signed: see `joinKeyOf`. */
    joinKeyOf: (credential: string): Uint8Array => joinKeyOf(tokenOf(credential)),
    /** The 32 bytes of the private key that signs the join tokens for all servers, where one does. */
    joinSeed: (): Uint8Array => new Uint8Array(hkdfSync('sha256', master(), '', 'muster-join-eddsa-1', 32)),
    /** A text that is to be stored, so that only processes with the same master secret can read it. */
    seal: (text: string) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealingKey(), nonce)
      const hidden = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([hidden, cipher.getAuthTag()]).toString('base64url')
    },
    /** Undefined for what this master secret has not sealed. */
    unseal: (sealed: string) => {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', sealingKey(), bytes.subarray(0, NONCE_BYTES))
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
