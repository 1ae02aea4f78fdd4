import { needsApproval, sentenceList } from '@sluice/core';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import { describeConfiguration } from './describe.js';
import type { ConfigurationDescription } from './describe.js';

/** What of a configuration is other than in another one. */
export interface ConfigurationChange {
  readonly kind: 'tool' | 'agent' | 'group' | 'state' | 'rule' | 'policy' | 'setting';
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Of what is changed, which part of it; null for what was added or removed. */
  readonly part: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** Characters of a text before or after. */
const longestText = 2_000;

/** What is other in tools, agents, groups, states, rules and policy, in words; what else is, `differences` says. */
export function configurationChanges(before: Configuration, after: Configuration): readonly ConfigurationChange[] {
  const [was, is] = [describeConfiguration(before), describeConfiguration(after)];
  return [
    ...changed('tool', toolsOf(before, was), toolsOf(after, is)),
    ...changed('agent', agentsOf(before), agentsOf(after)),
    ...changed('group', named(was.groups, membersOf), named(is.groups, membersOf)),
    ...changed('state', named(was.states, transitionsOf), named(is.states, transitionsOf)),
    ...changed('rule', named(was.rules, partsOfRule), named(is.rules, partsOfRule)),
    ...policyChanges(was.policy, is.policy),
  ];
}

/** What these changes are not about: `differences` looks at it. */
export function undescribed({ policy, ...configuration }: Configuration): object {
  const { version: _v, tools: _t, groupTree: _g, rules: _r, agents: _a, ...others } = configuration;
  const { approvalRules } = policy;
  return approvalRules === undefined ? others : { ...others, policy: { approvalRules } };
}

type Parts = Readonly<Record<string, string>>;

function changed(
  kind: ConfigurationChange['kind'],
  before: ReadonlyMap<string, Parts>,
  after: ReadonlyMap<string, Parts>,
): readonly ConfigurationChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((name): readonly ConfigurationChange[] => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined) return [{ kind, name, change: 'added', part: null, before: null, after: whole(is) }];
    if (is === undefined) return [{ kind, name, change: 'removed', part: null, before: whole(was), after: null }];
    const parts = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((part) => was[part] !== is[part]);
    return parts.map((part) => {
      const [old, now] = [was[part], is[part]];
      return { kind, name, change: 'changed', part, before: short(old), after: short(now) };
    });
  });
}

/** Sentences that only one of them says; those with the same words but other numbers stand beside each other. */
function policyChanges(before: readonly string[], after: readonly string[]): readonly ConfigurationChange[] {
  const form = (sentence: string): string => sentence.replaceAll(/\d+(?:\.\d+)?/g, '#');
  const gone = before.filter((sentence) => !after.includes(sentence));
  const come = after.filter((sentence) => !before.includes(sentence));
  const pairs = gone.map((old) => ({ old, now: come.find((sentence) => form(sentence) === form(old)) }));
  const paired = new Set(pairs.flatMap(({ now }) => now ?? []));
  const row = (change: ConfigurationChange['change'], was: string | null, is: string | null): ConfigurationChange => ({
    ...{ kind: 'policy', name: 'policy', change, part: null, before: short(was), after: short(is) },
  });
  return [
    ...pairs.map(({ old, now }) => (now === undefined ? row('removed', old, null) : row('changed', old, now))),
    ...come.filter((sentence) => !paired.has(sentence)).map((now) => row('added', null, now)),
  ];
}

function named<T extends { readonly name: string }>(
  all: readonly T[],
  partsOf: (one: T) => Parts,
): ReadonlyMap<string, Parts> {
  return new Map(all.map((one) => [one.name, partsOf(one)]));
}

function toolsOf(
  { tools, policy }: Configuration,
  { rules, tools: described }: ConfigurationDescription,
): ReadonlyMap<string, Parts> {
  const allowed = new Set(policy.allowedTools);
  const ruled = new Set(rules.flatMap((rule) => rule.tools));
  const boundsOf = new Map(described.map(({ key, bounds }) => [key, ownBounds(bounds)]));
  return new Map(
    tools.map((tool) => [
      tool.key,
      {
        description: tool.description,
        ...{ title: tool.title, type: tool.type, from: fromOf(tool) },
        effect: tool.spec?.effect ?? 'unknown',
        'input schema': tool.spec === null ? 'unknown' : JSON.stringify(tool.spec.inputSchema),
        redaction: tool.spec === null ? 'unknown' : JSON.stringify(tool.spec.redaction),
        ...(tool.mcp?.content === undefined ? {} : { content: list(tool.mcp.content) }),
        groups: list(tool.groups),
        'available in states': list(tool.states),
        'state after it': tool.target ?? 'as before',
        connection: tool.connection ?? 'none',
        'time limit': `${String(tool.timeoutMs / 1_000)} s`,
        allowed: allowed.has(tool.id) ? 'yes' : 'no',
        approval: needsApproval(tool, policy) ? 'needed' : 'not needed',
        rules: ruled.has(tool.key) ? list(rules.flatMap((rule) => (rule.tools.includes(tool.key) ? rule.name : []))) : 'none', // prettier-ignore
        ...(boundsOf.get(tool.key) === '' ? {} : { arguments: boundsOf.get(tool.key) ?? '' }),
        ...(tool.agent === undefined ? {} : { agent: JSON.stringify(tool.agent) }),
        ...(tool.plan === undefined ? {} : { plans: JSON.stringify(tool.plan) }),
        ...(tool.mcp?.pin === undefined || tool.mcp.pin === null ? {} : { 'what its server offers': tool.mcp.pin }),
        unavailable: tool.unavailable ?? 'no',
      },
    ]),
  );
}

/** The entries under `agents`: each key as a part, as it is written where it is no text. */
function agentsOf({ agents = {} }: Configuration): ReadonlyMap<string, Parts> {
  return new Map(
    Object.entries(agents).map(([name, entry]) => [
      name,
      Object.fromEntries(
        Object.entries(entry).map(([part, value]: readonly [string, unknown]) => [
          words[part] ?? part,
          typeof value === 'string' ? value : isNames(value) ? list(value) : JSON.stringify(value),
        ]),
      ),
    ]),
  );
}

/** Of an agent’s entry, what is called otherwise than in a configuration that is compiled. */
const words: Readonly<Record<string, string>> = {
  mayAsk: 'may ask',
  mayCancel: 'may cancel',
  agentDiscovery: 'tool discovery',
  descriptionModes: 'descriptions of tools',
  answerSchema: 'answer schema',
  clientTools: 'tools of clients',
};

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Those of the entry and of agents; a rule has its own as a part of itself. */
function ownBounds(bounds: ConfigurationDescription['tools'][number]['bounds']): string {
  const own = bounds.filter(({ rule }) => rule.startsWith('tool.') || rule.startsWith('agents.'));
  return own.map(({ rule, argument, words }) => `${rule}: ${argument} ${words.join(' and ')}`).join('; ');
}

function fromOf({ mcp, file, type }: ConfiguredTool): string {
  if (mcp?.operation !== undefined) return `${mcp.tool} of the API ${mcp.server}`;
  if (mcp !== null) return `${mcp.tool} of the MCP server ${mcp.server}`;
  return file === undefined ? `the type ${type}` : `the file ${file.path} (${file.hash.slice(0, 12)})`;
}

function membersOf({ groups, tools }: ConfigurationDescription['groups'][number]): Parts {
  return { tools: list(tools), ...(groups.length === 0 ? {} : { groups: list(groups) }) };
}

function transitionsOf({ tools, transitions }: ConfigurationDescription['states'][number]): Parts {
  const moves = Object.entries(transitions).map(([key, state]) => `${key} leads to ${state}`);
  return { tools: list(tools), transitions: list(moves) };
}

function partsOfRule({ words, tools }: ConfigurationDescription['rules'][number]): Parts {
  return { words: words.join(' '), tools: list(tools) };
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : sentenceList(names, 50);
}

function whole(parts: Parts | undefined): string | null {
  if (parts === undefined) return null;
  const shown = ['words', 'description', 'groups', 'tools'].filter((part) => parts[part] !== undefined);
  return short(shown.map((part) => `${part}: ${parts[part] ?? ''}`).join('; '));
}

function short(text: string | null | undefined): string | null {
  if (text === undefined || text === null) return null;
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`.toWellFormed();
}
