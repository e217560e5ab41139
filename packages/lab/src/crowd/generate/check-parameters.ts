import { validateAll, type ValidatedWhole } from '@muster/core/validation'
import { parametersSchema, type CompleteParameters } from './parameters.js'

/** All that is wrong with parameters, each with its path and value, or the parameters with their defaults. */
export const checkParameters = (parameters: unknown): ValidatedWhole<CompleteParameters> =>
  validateAll(parametersSchema, parameters)
