import { expect, test } from 'vitest'
import { processVariables } from './launch-process.js'

const passed = (name: string, allowed: readonly string[] = []) =>
  Object.hasOwn(processVariables({ [name]: 'x' }, new Set(allowed)).passed, name)

test.each(
  (
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS Node_Options LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PATH Path HOME ' +
    'GCONV_PATH ' +
    'DYLD_INSERT_LIBRARIES BASH_ENV BASH_FUNC_ls%% ENV PYTHONSTARTUP PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS ' +
    'DOTNET_STARTUP_HOOKS https_proxy npm_config_prefix'
  ).split(' '),
)('the variable %s is withheld from a container process, unless it is allowed', (name) => {
  expect(passed(name)).toBe(false)
  expect(passed(name, [name])).toBe(true)
  expect(processVariables({ [name]: 'x', MODE: 'duel' })).toEqual({ passed: { MODE: 'duel' }, withheld: [name] })
})

test.each([
  'MODE',
  'NODE_ENV',
  'MM_MATCH_ID',
  'SERVICE_DELETE_TOKEN',
  'SERVICE_PORT_PATH_INTERNAL',
  'MY_PATH',
  'ENVIRONMENT',
  '__proto__',
])('the variable %s is passed on to a container process', (name) => expect(passed(name)).toBe(true))
