import { quote, wildcard } from '@sluice/core';
import type { Operators } from '@sluice/core';
import { formOfPrincipal, principalForm } from './authorization.js';
import { configurationKeys } from './keys.js';
import { Section } from './section.js';

/** `identity.operators`: who may see and redrive dead letters over HTTP. */
export function readOperators(identity: Section): readonly Operators[] {
  const items = identity.items('operators', 'a list of entries with `principals` and `tenants`') ?? [];
  return items
    .map((item, place) => new Section(item, identity.itemAt('operators', place), identity.problems))
    .filter((entry) => entry.usable)
    .map((entry) => readEntry(entry.closed(configurationKeys['identity.operators[]'])));
}

/** Operators see records of every tenant, so a wildcard makes none. */
function readEntry(section: Section): Operators {
  const principals = named(section, 'principals', formOfPrincipal);
  principals.forEach((name, place) => {
    if (name !== wildcard && !principalForm.test(name))
      section.problem(section.itemAt('principals', place), `the text ${quote(name)}`, formOfPrincipal);
  });
  return { principals, tenants: named(section, 'tenants', 'the names of the tenants that they belong to') };
}

function named(section: Section, key: 'principals' | 'tenants', write: string): readonly string[] {
  if (!section.has(key)) section.problem(section.at(key), 'nothing', write);
  const names = section.names(key, `a list: ${write}`) ?? [];
  names.forEach((name, place) => {
    if (name === wildcard) section.problem(section.itemAt(key, place), '`*`', `${write}, each by its name`);
  });
  return names;
}
