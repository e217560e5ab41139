/**
 * Returns the token of the Authorization header, given as `Bearer <token>` or raw, as existing game clients send it.
 * Undefined without a token, and for other schemes (`Basic …`).
 */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.get('authorization')?.trim() ?? ''
  const token = /^bearer +/i.test(header) ? header.replace(/^bearer +/i, '') : header
  return token === '' || /\s/.test(token) || /^bearer$/i.test(token) ? undefined : token
}
