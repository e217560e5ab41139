/**
 * What can go wrong with the webhooks of one deployment or relay session.
 * - `lost`: never sent.
 * - `early`: it becomes ready at once, and its webhook is answered before the create is.
 * - `repeated`: each is sent twice.
 * - `forged`: as soon as it exists, somebody else posts to its ready webhook that it is ready, at an address that is
 *   not its own.
 * - `{ lateMs }`: sent that many milliseconds of the service's time after the event, as it was then.
 */
export type WebhookFault = 'lost' | 'early' | 'repeated' | 'forged' | { readonly lateMs: number }
