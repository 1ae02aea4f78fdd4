import { isPlaceholder, partsOfPath, placeholdersIn, quote } from '@sluice/core';
import type { ListLookup } from '@sluice/core';
import { readDuration } from './duration.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import { namesVariable, notAVariable } from './variables.js';

const refresh = { byDefault: 300_000, least: 1_000, most: 86_400_000 };
const staleFor = { byDefault: 3_600_000, most: 30 * 86_400_000 };
const patience = { byDefault: 5_000, most: 30_000 };

/** `lists.<list>.lookup`: where executors read the values of a list. */
export function readLookup(section: Section): ListLookup {
  section.closed(configurationKeys['lists.<list>.lookup']);
  return {
    url: readAddress(section),
    keyEnv: readKey(section),
    items: readItems(section),
    refreshMs: readDuration(section, 'refresh', refresh),
    staleMs: readDuration(section, 'stale_for', staleFor),
    timeoutMs: readDuration(section, 'timeout', patience),
  };
}

function readAddress(section: Section): string {
  const url = section.address('url') ?? '';
  if (!section.has('url')) section.problem(section.at('url'), 'nothing', 'the address that knows the values');
  const odd = placeholdersIn(url).find((name) => !isPlaceholder(name));
  if (odd !== undefined)
    section.problem(section.at('url'), `the place ${quote(`{${odd}}`)}`, '`{tenant}`, `{user}` or `{claims.<claim>}`');
  return url;
}

function readKey(section: Section): string | null {
  const write = 'the name of the environment variable that holds its key';
  const name = section.text('key_env', write);
  if (name !== null && !namesVariable(name)) section.problem(section.at('key_env'), notAVariable, write);
  return name;
}

function readItems(section: Section): string {
  const write = 'a path to the values in the answer, such as `contacts/*/mail`';
  const items = section.text('items', write) ?? '*';
  if (partsOfPath(items).includes('')) section.refuse('items', write);
  return items;
}
