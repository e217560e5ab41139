/** The loader hooks of as-observed.mjs. Two modules replace the packages and override one function of each. */
const SCHEME = 'observed:'
const EXAMPLES = new URL('../../examples/', import.meta.url).href

const replaced = {
  '@muster/emulator': `
    import { createEmulator as create } from '@muster/emulator'
    export * from '@muster/emulator'
    export const createEmulator = (options) => create({ as: 'observed', ...options })`,
  '@muster/core': `
    import { createClient as create } from '@muster/core'
    export * from '@muster/core'
    const settings = { createDeploymentPath: '/v2/deployments' }
    export const createClient = (options) => create({ settings, ...options })`,
}

export async function resolve(specifier, context, next) {
  const { parentURL = '' } = context
  if (Object.hasOwn(replaced, specifier) && parentURL.startsWith(EXAMPLES))
    return { url: `${SCHEME}${specifier}`, format: 'module', shortCircuit: true }
  // The replacement imports the original package from here.
  return next(specifier, parentURL.startsWith(SCHEME) ? { ...context, parentURL: import.meta.url } : context)
}

export async function load(url, context, next) {
  if (!url.startsWith(SCHEME)) return next(url, context)
  return { format: 'module', source: replaced[url.slice(SCHEME.length)], shortCircuit: true }
}
