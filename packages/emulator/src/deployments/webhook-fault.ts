/**
 * A fault of the webhooks of one deployment or relay session.
 * - `lost`: webhooks are never sent.
 * - `early`: the deployment or session becomes ready at once, and its webhook is answered before the create request is.
 * - `repeated`: each webhook is sent twice.
 * - `forged`: as soon as the deployment or session exists, an attacker posts to its ready webhook that it is ready,
 *   with another server's address.
 * - `{ lateMs }`: each webhook is sent that many milliseconds of the service's time after the event, with the state at
 *   the event.
 */
export type WebhookFault = 'lost' | 'early' | 'repeated' | 'forged' | { readonly lateMs: number }
