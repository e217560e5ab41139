import { Problem } from './problem.js'

/** The answer if a player's address is needed and unknown. It tells whoever mounts or tests the API what to do. */
export const addressUnknown = (): Problem =>
  new Problem(
    400,
    'address-unknown',
    'it is not known from which address the player calls: serve the API with nodeListener, ' +
      'call it as api(request, { remoteAddress }), or give it the option address',
  )
