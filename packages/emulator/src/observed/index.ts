/** The differences of a public deployment of the interface from the specification (live facts). */
export { type UnsentAnswer, observedErrorStatus, observedSuccess, observedWebhook } from './observed-answers.js'
export { isDescribed, OBSERVED_CREATE_PATH, OBSERVED_PREFIX, observedFault } from './observed-requests.js'
