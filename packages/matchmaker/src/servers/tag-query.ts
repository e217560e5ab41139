// pure: asking for deployments by tag
import type { DeploymentListEntry, DeploymentQuery } from '@muster/core/api'

/**
 * Deployments with this tag, the newest first. That the service filters and sorts as asked is a public
 * fact, and not relied upon.
 */
export const taggedWith = (tag: string): DeploymentQuery => ({
  filters: [{ field: 'tags', operator: 'in', value: [tag] }],
  order_by: [{ field: 'created_at', order: 'desc' }],
})

/** Whether it really has the tag. */
export const hasTag = (entry: DeploymentListEntry, tag: string): boolean => entry.tags?.includes(tag) ?? false
