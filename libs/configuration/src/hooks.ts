import { hookSchemes } from '@sluice/core';
import type { Finding, HookSettings } from '@sluice/core';
import { readVariable } from './connections.js';
import { configurationKeys } from './keys.js';
import { ownEntries, readOwnRequest } from './own-requests.js';
import type { RequestWorld } from './own-requests.js';
import type { Section } from './section.js';

/** `hook`: requests that webhooks of other systems make. */
export function readHooks(section: Section, world: RequestWorld): readonly HookSettings[] {
  return ownEntries(section, configurationKeys['hook.<hook>']).flatMap(
    ([name, entry]) => readHook(name, entry, world) ?? [],
  );
}

function readHook(name: string, section: Section, world: RequestWorld): HookSettings | null {
  const asked = readOwnRequest(name, section, world);
  if (!section.has('scheme')) section.problem(section.at('scheme'), 'nothing', '`github`, `stripe` or `standard`');
  const scheme = section.choice('scheme', hookSchemes);
  const write = 'the name of the environment variable that holds the secret';
  if (!section.has('secret_env')) section.problem(section.at('secret_env'), 'nothing', write);
  const secretEnv = readVariable(section, 'secret_env', write);
  const previous = readVariable(section, 'previous_secret_env', 'the name of the variable with the former secret');
  const givesBody = section.flag('body') ?? false;
  if (asked === null || scheme === null || secretEnv === null) return null;
  return {
    ...asked,
    ...{ scheme, secretEnv, givesBody },
    ...(previous === null ? {} : { previousSecretEnv: previous }),
  };
}

/** The filter may have what is missing here, so it is no mistake. */
export function findAboutHooks(
  hooks: readonly HookSettings[],
  given: { isSet?(variable: string): boolean },
): readonly Finding[] {
  return hooks.flatMap(({ name, secretEnv, previousSecretEnv }) =>
    Object.entries({ secret_env: secretEnv, previous_secret_env: previousSecretEnv }).flatMap(
      ([key, variable]): Finding[] => {
        if (variable === undefined || (given.isSet?.(variable) ?? true)) return [];
        const message = `The variable ${variable} is not set here: where the filter has none either, no delivery counts.`;
        return [{ kind: 'unset_variable', path: `hook.${name}.${key}`, message }];
      },
    ),
  );
}
