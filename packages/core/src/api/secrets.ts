/** Keys whose value is a secret wherever it appears, in an input or an answer. */
export const secretKeys: readonly string[] = [
  'secret_access_key',
  'private_token',
  'authorization',
  'authorization_token',
]

/** A true value under one of these keys makes the `value` beside it a secret. */
export const secretFlags: readonly string[] = ['is_secret', 'is_hidden']

/** Keys that hold players' addresses: not secrets to the service, but not to be logged or shown to anyone else. */
export const addressKeys: readonly string[] = ['ip_address', 'ip', 'user_ip', 'ip_list']
