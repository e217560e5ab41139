// pure: what a crowd's players are like and do
import { z } from 'zod'
import { durationMs, hasWeight, name, NO_WEIGHT, share, weight } from './fields.js'

const HOUR_MS = 3_600_000
/** As of a ticket's player. */
const MOST_ROLES = 16

export const latency = z.strictObject({
  perKmMs: z
    .number()
    .min(0)
    .max(1)
    .default(0.014)
    .describe(
      'Milliseconds of the round trip for each kilometre. Light takes 0.01 in fibre, there and back, and cables are ' +
        'longer than the great circle: London to New York (5,570 km) takes 78, about what is measured',
    ),
  accessMs: z
    .number()
    .min(0)
    .max(1000)
    .default(10)
    .describe("Median milliseconds that a player's own line adds. Our choice, between fibre (3) and mobile (40)"),
  accessSpread: z
    .number()
    .min(0)
    .max(2)
    .default(0.6)
    .describe('Deviation of the logarithm of that. Our choice: one in twenty has 2.7 times the median or more'),
  jitterMs: z
    .number()
    .min(0)
    .max(1000)
    .default(3)
    .describe('Mean milliseconds (exponential) that a measured round trip is too long. Our choice: a quiet line'),
})

export const parties = z.strictObject({
  sizes: z
    .array(weight)
    .min(1)
    .max(10)
    .refine(hasWeight, NO_WEIGHT)
    .default([66, 19, 7, 3, 5])
    .describe('Weights of parties of 1, 2, 3 … players. Our choice: three players in five are in parties'),
  sameCity: share
    .default(0.7)
    .describe(
      "Share of members who live where the party's first does; others in its region. Our choice: most friends have met",
    ),
  samePlatform: share
    .default(0.8)
    .describe("Share of members on the platform of the party's first. Our choice: friends buy alike"),
})

export const skill = z.strictObject({
  mean: z.number().min(-1e6).max(1e6).default(1500).describe('Mean of the true skill. Where Elo and Glicko begin'),
  deviation: z
    .number()
    .min(0)
    .max(1e6)
    .default(350)
    .describe('Its deviation among players. What Glicko supposes of a player of whom nothing is known (Glickman)'),
  partyCorrelation: share
    .default(0.5)
    .describe('Correlation of two members of a party. Our choice: friends are alike, not equal'),
  error: z
    .number()
    .min(0)
    .max(1e6)
    .default(80)
    .describe('Deviation of attributes.skill from the true one. About what Glicko leaves of a regular player'),
})

export const roles = z.strictObject({
  weights: z
    .record(name, weight)
    .refine((given) => Object.keys(given).length <= MOST_ROLES, `must have at most ${MOST_ROLES} entries`)
    .default({ damage: 62, support: 22, tank: 16 })
    .describe('Roles by popularity; {} for none. Our choice: few like to protect others'),
  flexible: share.default(0.25).describe('Share of players who take a second role as well. Our choice: one in four'),
  any: share.default(0.1).describe('Share of players who take any role. Our choice: one in ten'),
})

export const patience = z.strictObject({
  medianMs: durationMs(7 * 24 * HOUR_MS)
    .default(240_000)
    .describe('Median milliseconds until a party gives up. Our choice: a fifth of a match'),
  shape: z
    .number()
    .min(0.2)
    .max(20)
    .default(1.5)
    .describe(
      'Shape of the Weibull distribution: above 1, more give up the longer they wait. Our choice: ' +
        'between chance (1) and a fixed limit',
    ),
})

export const play = z.strictObject({
  medianMs: durationMs(24 * HOUR_MS)
    .default(1_200_000)
    .describe('Median milliseconds of a match. Our choice: 20 minutes'),
  spread: z
    .number()
    .min(0)
    .max(2)
    .default(0.25)
    .describe('Deviation of the logarithm of that. Our choice: two of three last 16 to 26 minutes'),
  leaveEarly: share
    .default(0.03)
    .describe(
      'Share of visits that leave the match before its end, at any time. Our choice: of ten, one in each fourth match',
    ),
})

export const visits = z.strictObject({
  decline: share
    .default(0.02)
    .describe('Share of visits that decline a match that asks. Our choice: one of ten parties, each fifth time'),
  again: z
    .number()
    .min(0)
    .max(0.99)
    .default(0.75)
    .describe('Probability of queueing again after a visit. Our choice: four matches in a row'),
  breakMs: durationMs(24 * HOUR_MS)
    .default(45_000)
    .describe('Median milliseconds until then. Our choice: results are read'),
  later: z
    .number()
    .min(0)
    .max(0.99)
    .default(0.2)
    .describe('Probability of coming back later to those who do not. Our choice: one in five plays twice a day'),
  laterMs: durationMs(7 * 24 * HOUR_MS)
    .default(10_800_000)
    .describe('Median milliseconds until then. Our choice: three hours'),
  spread: z
    .number()
    .min(0)
    .max(2)
    .default(0.7)
    .describe('Deviation of the logarithm of both. Our choice: two of three within half and twice the median'),
})
