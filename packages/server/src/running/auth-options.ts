import type { AuthOptions } from '../auth/auth.js'
import type { Config } from '../config/config.js'

/** The section `auth`, with its secrets as text. */
export function authOptions({ auth }: Config, devToken: string | undefined): AuthOptions {
  const { jwt, keys } = auth
  return {
    jwt: jwt && { ...jwt, secret: jwt.secret?.reveal() },
    keys: keys.map(({ name, role, key }) => ({ name, role, key: key.reveal() })),
    devToken,
  }
}
