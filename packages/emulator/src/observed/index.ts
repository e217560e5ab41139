/** A public deployment of the interface, where it differs from the specification (live facts). */
export { type Answered, observedErrorStatus, observedSuccess, observedWebhook } from './observed-answers.js'
export { isDescribed, OBSERVED_CREATE_PATH, OBSERVED_PREFIX, observedFault } from './observed-requests.js'
