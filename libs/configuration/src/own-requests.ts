import { connectionIdForm, defaultAgent, quote, suggestion, wildcard } from '@sluice/core';
import type { Configuration, OwnRequest } from '@sluice/core';
import { knownGroups } from './group-map.js';
import type { Groups } from './group-map.js';
import type { Section } from './section.js';

/** What requests that no caller makes are read against. */
export interface RequestWorld {
  readonly groups: Groups;
  readonly connections: readonly { readonly id: string }[];
  readonly agents: Configuration['agents'];
}

const serviceForm = /^service:[^\s:]{1,120}$/;
const mostEntries = 50;
const longestQuestion = 10_000;

/** The entries of `schedule` or `hook` that can be read on, by their names. */
export function ownEntries(section: Section, keys: readonly string[]): readonly (readonly [string, Section])[] {
  const names = section.keys();
  if (names.length > mostEntries)
    section.problem(section.path, `${String(names.length)} entries`, `at most ${String(mostEntries)}`);
  return names.flatMap((name) => {
    if (!connectionIdForm.test(name))
      section.problem(section.at(name), `the name ${quote(name)}`, '1 to 64 letters, digits, `_` and `-`');
    const entry = section.section(name);
    return entry.usable ? [[name, entry.closed(keys)] as const] : [];
  });
}

/** What the run asks, and as whom; null where that cannot be read, which is reported. */
export function readOwnRequest(name: string, section: Section, world: RequestWorld): OwnRequest | null {
  const question = required(section, 'question', 'what the run is asked');
  if (question !== null && question.length > longestQuestion)
    section.problem(section.at('question'), 'a longer text', `at most ${String(longestQuestion)} characters`);
  const principal = required(section, 'principal', 'as whom the run asks, such as `service:reports`');
  if (principal !== null && !serviceForm.test(principal))
    section.problem(section.at('principal'), `the text ${quote(principal)}`, '`service:` and a name');
  const tenant = required(section, 'tenant', 'the tenant of the run');
  const groups = section.names('groups', 'a list of groups, such as `["support"]`');
  const known = [...knownGroups(world.groups), wildcard];
  groups?.forEach((group, at) => {
    if (!known.includes(group)) section.unknown(section.itemAt('groups', at), 'group', group, suggestion(group, known));
  });
  const connections = section.names('connections', 'a list of connections');
  const ids = [...world.connections.map(({ id }) => id), wildcard];
  connections?.forEach((id, at) => {
    if (!ids.includes(id))
      section.problem(section.itemAt('connections', at), `the connection ${quote(id)}`, suggestion(id, ids));
  });
  const agent = section.text('agent', 'the name of an agent');
  const agents = [defaultAgent, ...Object.keys(world.agents ?? {})];
  if (agent !== null && !agents.includes(agent))
    section.problem(section.at('agent'), `the agent ${quote(agent)}`, suggestion(agent, agents));
  const state = section.text('state', 'the state that the run starts in');
  if (question === null || principal === null || tenant === null) return null;
  return {
    ...{ name, principal, tenant, question },
    ...(groups === null ? {} : { groups }),
    ...(connections === null ? {} : { connections }),
    ...(agent === null ? {} : { agent }),
    ...(state === null ? {} : { state }),
  };
}

function required(section: Section, key: string, write: string): string | null {
  if (!section.has(key)) section.problem(section.at(key), 'nothing', write);
  return section.text(key, write);
}
