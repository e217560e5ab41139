import { expect, test } from 'vitest'
import { deploymentPhase, sameStatus, statusName } from './deployment-status.js'

test.each([
  ['Status.READY', 'READY'],
  ['READY', 'READY'],
  ['ready', 'READY'],
  ['status.Ready', 'READY'],
  [' Status.ERROR ', 'ERROR'],
  ['Status.', ''],
])('statusName reads the deployment status %j as %j', (status, name) => expect(statusName(status)).toBe(name))

test('deployment statuses are compared with or without their prefix', () => {
  expect(sameStatus('Status.READY', 'ready')).toBe(true)
  expect(sameStatus('Status.READY', 'Status.ERROR')).toBe(false)
})

test.each([
  [{ current_status: 'Status.INITIALIZING' }, 'starting'],
  [{ current_status: 'Status.SEEKING' }, 'starting'],
  [{ current_status: 'Status.DEPLOYING', error: false }, 'starting'],
  [{ current_status: 'Status.SOMETHING_NEW' }, 'starting'],
  [{ current_status: '' }, 'starting'],
  [{ current_status: 'Status.SOMETHING_NEW', error: true }, 'failed'],
  [{ current_status: 'Status.READY', error: null }, 'ready'],
  [{ current_status: 'ready' }, 'ready'],
  [{ current_status: 'Status.ERROR' }, 'failed'],
  [{ current_status: 'Status.TERMINATING' }, 'terminated'],
  [{ current_status: 'Status.TERMINATED', error: true }, 'terminated'],
])('a deployment with %j is in phase %s', (deployment, phase) => expect(deploymentPhase(deployment)).toBe(phase))
