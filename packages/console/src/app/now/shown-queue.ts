// pure: which queue the plots are of
import type { Now, QueueNow } from '../../wire/index.js'
import type { Route } from '../routes.js'

/** The queue of the address, or else the first one. */
export const shownQueue = ({ queues }: Now, route: Route): QueueNow | undefined =>
  queues.find(({ name }) => route.view === 'now' && name === route.queue) ?? queues[0]
