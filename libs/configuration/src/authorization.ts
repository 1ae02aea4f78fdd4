import { checkContexts, partsOfPath, principalKinds, quote, suggestion, wildcard } from '@sluice/core';
import type {
  ArgumentObject,
  AuthorizationSettings,
  ConfiguredTool,
  Delegation,
  JsonObject,
  Permission,
} from '@sluice/core';
import { argumentNames, hasPath } from './argument-paths.js';
import type { AuthorizationFiles } from './authorization-files.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { Section } from './section.js';

export const principalForm = new RegExp(`^(${principalKinds.join('|')}):.`, 's');
const groupPrefix = 'group:';
export const formOfPrincipal = 'a principal such as `user:ann`, `agent:planner` or `service:billing`';

type Groups = ReadonlyMap<string, readonly string[]>;

/** `authorization`: who may use what. Absent means everybody; present, what is not written is denied. */
export function readAuthorization(
  file: Section,
  tools: readonly IdentifiedTool[],
  files: AuthorizationFiles,
  specified: readonly Pick<ConfiguredTool, 'id' | 'spec'>[] = [],
): AuthorizationSettings | null {
  if (!file.has('authorization')) return null;
  const section = file.section('authorization').closed(configurationKeys.authorization);
  const groups = readGroups(section.section('groups'));
  const permissions = entriesOf(section, 'permissions').map((entry) => readPermission(entry, groups, tools));
  const delegations = entriesOf(section, 'delegations').map((entry) => readDelegation(entry, groups, tools));
  const other = section.has('cedar') ? 'cedar' : section.has('openfga') ? 'openfga' : null;
  if (other === null) return { kind: 'rules', permissions, delegations };
  for (const key of ['permissions', 'delegations'] as const) {
    if (section.has(key)) {
      const write = `either \`${other}\` or the built-in rules: one decides`;
      section.problem(section.at(key), `rules beside \`${other}\``, write);
    }
  }
  if (other === 'openfga') return readOpenFga(section, tools, specified);
  if (section.has('openfga'))
    section.problem(section.at('openfga'), 'OpenFGA beside `cedar`', 'either `cedar` or `openfga`: one decides');
  const { policies, schema } = readCedar(section.section('cedar'), files);
  const claims = files.cedarClaims?.(schema) ?? [];
  const declared = claims.length === 0 ? {} : { claims };
  return { kind: 'cedar', policies, schema, groups: Object.fromEntries(groups), ...declared };
}

function readGroups(section: Section): Groups {
  const groups = new Map<string, readonly string[]>();
  for (const name of section.keys()) {
    const members = section.names(name, `a list of principals: ${formOfPrincipal}`) ?? [];
    members.forEach((member, place) => {
      if (!principalForm.test(member)) section.problem(section.itemAt(name, place), quoted(member), formOfPrincipal);
    });
    groups.set(name, members);
  }
  return groups;
}

function entriesOf(section: Section, key: 'permissions' | 'delegations'): readonly Section[] {
  const items = section.items(key, 'a list of entries') ?? [];
  return items
    .map((item, place) => new Section(item, section.itemAt(key, place), section.problems))
    .filter((entry) => entry.usable)
    .map((entry) => entry.closed(configurationKeys[`authorization.${key}[]`]));
}

function readPermission(section: Section, groups: Groups, tools: readonly IdentifiedTool[]): Permission {
  return { principals: readPrincipals(section, 'principals', groups), ...readScope(section, tools) };
}

function readDelegation(section: Section, groups: Groups, tools: readonly IdentifiedTool[]): Delegation {
  return {
    actors: readPrincipals(section, 'actors', groups),
    subjects: readPrincipals(section, 'subjects', groups),
    ...readScope(section, tools),
  };
}

function readScope(section: Section, tools: readonly IdentifiedTool[]): Omit<Permission, 'principals'> {
  if (!section.has('tools') && !section.has('connections')) {
    section.problem(section.at('tools'), 'neither `tools` nor `connections`', 'what it is about, or `["*"]` for all');
  }
  return {
    tenants: readNames(section, 'tenants', 'the names of the tenants'),
    tools: readTools(section, tools),
    connections: section.has('connections') ? readNames(section, 'connections', 'the ids of the connections') : [],
  };
}

/** Principals as they are, groups taken apart. */
function readPrincipals(
  section: Section,
  key: 'principals' | 'actors' | 'subjects',
  groups: Groups,
): readonly string[] {
  const names = readNames(section, key, `${formOfPrincipal}, or \`${groupPrefix}\` and the name of a group`);
  const principals = names.flatMap((name, place) => {
    if (name === wildcard || principalForm.test(name)) return [name];
    const group = name.startsWith(groupPrefix) ? name.slice(groupPrefix.length) : null;
    const members = group === null ? undefined : groups.get(group);
    if (members !== undefined) return members;
    const path = section.itemAt(key, place);
    if (group === null) section.problem(path, quoted(name), `${formOfPrincipal}, or \`${groupPrefix}\` and a group`);
    else section.unknown(path, 'group', group, suggestion(group, [...groups.keys()]));
    return [];
  });
  return [...new Set(principals)];
}

/** Keys and ids become ids; `*` stays, and means every tool that policy allows. */
function readTools(section: Section, tools: readonly IdentifiedTool[]): readonly string[] {
  if (!section.has('tools')) return [];
  const byName = toolsByName(tools);
  return readNames(section, 'tools', 'keys or ids of tools').flatMap((name, place) => {
    if (name === wildcard) return [name];
    const tool = byName.get(name);
    if (tool !== undefined) return [tool.id];
    section.unknown(section.itemAt('tools', place), 'tool', name, suggestion(name, [...byName.keys()]));
    return [];
  });
}

/** A list that must be there; `*` is the only entry or none. */
function readNames(section: Section, key: string, what: string): readonly string[] {
  if (!section.has(key)) section.problem(section.at(key), 'nothing', `${what}, or \`["*"]\` for all`);
  const names = section.names(key, `a list: ${what}, or \`["*"]\` for all`) ?? [];
  if (names.length > 1 && names.includes(wildcard))
    section.problem(section.at(key), '`*` among other entries', '`*` alone, or the others without it');
  return names;
}

function readCedar(section: Section, files: AuthorizationFiles): { policies: string; schema: string } {
  section.closed(configurationKeys['authorization.cedar']);
  const texts = { policies: readText(section, 'policies', files), schema: readText(section, 'schema', files) };
  const { policies, schema } = texts;
  if (policies !== null && schema !== null) {
    for (const problem of files.cedarProblems(policies, schema)) {
      const write =
        problem.in === 'policies'
          ? 'Cedar policies that fit the schema'
          : 'a Cedar schema with what docs/configuration.md lists';
      section.problem(section.at(problem.in), problem.found, problem.write ?? write);
    }
  }
  return { policies: policies ?? '', schema: schema ?? '' };
}

function readText(section: Section, key: 'policies' | 'schema', files: AuthorizationFiles): string | null {
  const write = `the path of the file with the Cedar ${key}`;
  const path = section.text(key, write);
  if (path === null) {
    if (!section.has(key)) section.problem(section.at(key), 'nothing', write);
    return null;
  }
  const file = files.read(path);
  if ('text' in file) return file.text;
  section.problem(section.at(key), `the file ${quote(path)}, which cannot be read: ${file.error}`, write);
  return null;
}

function quoted(name: string): string {
  return `the text ${quote(name)}`;
}

/** How long OpenFGA may take for one check, in seconds. */
const openFgaSeconds = { byDefault: 2, most: 30 };

/** Names of types and relations as a model of OpenFGA has them. */
const modelName = /^[^:#@*\s]{1,50}$/;

/** Arguments of one tool whose values are objects, at most. */
const mostArguments = 16;

function readOpenFga(
  authorization: Section,
  tools: readonly IdentifiedTool[],
  specified: readonly Pick<ConfiguredTool, 'id' | 'spec'>[],
): AuthorizationSettings {
  if (authorization.has('groups')) {
    const write = 'the groups as tuples in the store, and none here';
    authorization.problem(authorization.at('groups'), 'groups beside `openfga`', write);
  }
  const section = authorization.section('openfga').closed(configurationKeys['authorization.openfga']);
  const url = section.address('url');
  const store = section.text('store', 'the id of the store');
  for (const [key, write] of [
    ['url', 'the address of its HTTP API'],
    ['store', 'the id of the store'],
  ] as const)
    if (!section.has(key)) section.problem(section.at(key), 'nothing', write);
  const objects = readArgumentObjects(section.section('arguments'), tools, specified);
  const context = checkContexts.filter((one) => readContext(section).includes(one));
  return {
    kind: 'openfga',
    url: url ?? '',
    store: store ?? '',
    model: section.text('model', 'the id of the authorization model'),
    keyEnv: section.text('key_env', 'the name of the environment variable that holds its key'),
    timeoutMs: section.wholeNumber('timeout_seconds', openFgaSeconds) * 1_000,
    ...(Object.keys(objects).length === 0 ? {} : { arguments: objects }),
    ...(context.length === 0 ? {} : { context }),
  };
}

function readContext(section: Section): readonly string[] {
  const names = section.names('context', `a list of ${checkContexts.join(', ')}`) ?? [];
  names.forEach((name, place) => {
    if (checkContexts.some((one) => one === name)) return;
    section.problem(section.itemAt('context', place), quoted(name), suggestion(name, checkContexts));
  });
  return names;
}

/** By tool id, the arguments whose values are objects of the store. */
function readArgumentObjects(
  section: Section,
  tools: readonly IdentifiedTool[],
  specified: readonly Pick<ConfiguredTool, 'id' | 'spec'>[],
): Readonly<Record<string, readonly ArgumentObject[]>> {
  const byName = toolsByName(tools);
  return Object.fromEntries(
    section.keys().flatMap((name): [string, readonly ArgumentObject[]][] => {
      const tool = byName.get(name);
      if (tool === undefined) section.unknown(section.at(name), 'tool', name, suggestion(name, [...byName.keys()]));
      const items = section.items(name, 'a list of arguments') ?? [];
      if (items.length > mostArguments)
        section.problem(section.at(name), `${String(items.length)} arguments`, `at most ${String(mostArguments)}`);
      const schema = specified.find(({ id }) => id === tool?.id)?.spec?.inputSchema;
      const read = items.map((item, place) => {
        const entry = new Section(item, section.itemAt(name, place), section.problems);
        return readArgumentObject(entry, schema);
      });
      return tool === undefined ? [] : [[tool.id, read]];
    }),
  );
}

function readArgumentObject(section: Section, schema: JsonObject | undefined): ArgumentObject {
  section.closed(configurationKeys['authorization.openfga.arguments.<tool>[]']);
  const needed = (key: 'path' | 'type' | 'relation', write: string): string => {
    if (section.usable && !section.has(key)) section.problem(section.at(key), 'nothing', write);
    return section.text(key, write) ?? '';
  };
  const path = needed('path', 'the path of an argument, such as `account` or `to/account`');
  const type = needed('type', 'a type of the model, such as `account`');
  const relation = needed('relation', 'a relation of the model, such as `can_pay_from`');
  for (const [key, name] of [
    ['type', type],
    ['relation', relation],
  ] as const)
    if (name !== '' && !modelName.test(name))
      section.problem(section.at(key), quoted(name), 'a name as the model has it');
  const parts = partsOfPath(path);
  if (path !== '' && parts.includes(''))
    section.problem(section.at('path'), `the path ${quote(path)}`, 'names with `/` between, such as `to/account`');
  else if (path !== '' && schema !== undefined && !hasPath(schema, parts))
    section.problem(section.at('path'), `the unknown argument ${quote(path)}`, suggestion(path, argumentNames(schema)));
  return { path, type, relation };
}
