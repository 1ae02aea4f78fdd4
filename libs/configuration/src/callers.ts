import { quote, wildcard } from '@sluice/core';
import type { Callers } from '@sluice/core';
import { formOfPrincipal, principalForm } from './authorization.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

/** `may_ask`, `may_cancel` and `may_control`: some callers, by what their credentials say. */
export function readCallers(entry: Section, key: 'may_ask' | 'may_cancel' | 'may_control'): Callers | undefined {
  if (!entry.has(key)) return undefined;
  const section = entry.section(key).closed(configurationKeys['agents.default.may_ask']);
  const principals = section.names('principals', `a list of principals: ${formOfPrincipal}`);
  principals?.forEach((name, place) => {
    if (!principalForm.test(name))
      section.problem(section.itemAt('principals', place), `the text ${quote(name)}`, formOfPrincipal);
  });
  const tenants = section.names('tenants', 'the names of the tenants');
  const groups = section.names('groups', 'a list of groups, of which a caller’s credential permits one');
  groups?.forEach((name, place) => {
    if (name === wildcard)
      section.problem(section.itemAt('groups', place), '`*`', 'the groups by their names, or leave `groups` out');
  });
  if (section.usable && principals === null && tenants === null && groups === null)
    section.problem(section.path, 'no caller', '`groups`, `principals` or `tenants`, or leave it out');
  return {
    ...(principals === null ? {} : { principals }),
    ...(tenants === null ? {} : { tenants }),
    ...(groups === null ? {} : { groups }),
  };
}
