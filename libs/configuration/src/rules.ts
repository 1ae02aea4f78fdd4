import { defaultGroup, mostConditions, quote, sentenceList, suggestion, wildcard, withGroupsBelow } from '@sluice/core';
import type { AvailabilityRule, ContextCondition, Finding, Lists } from '@sluice/core';
import type { Groups } from './group-map.js';
import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import { readContext, readHistory, readLoad, readTime, readTools, readWhom } from './rule-conditions.js';
import { readBounds } from './bounds.js';
import { readTotals } from './rule-totals.js';
import type { Section } from './section.js';

/**
 * `rules`: when tools, or those of groups, are available at all. Groups and tools become ids in configuration order.
 */
export function readRules(
  section: Section,
  groups: Groups,
  tools: readonly IdentifiedTool[],
  lists: Lists = {},
  agents: readonly string[] = [],
): readonly AvailabilityRule[] {
  const rules = section.keys().map((name) => readRule(section.section(name), name, { groups, tools, lists, agents }));
  const conditions = rules.reduce((sum, rule) => sum + conditionsOf(rule), 0);
  if (conditions > mostConditions) {
    const write = `at most ${String(mostConditions)}, counting when with unless, time, load and history of each rule`;
    section.problem(section.path, `${String(conditions)} conditions`, write);
  }
  refuseCycles(section, rules, tools);
  return rules;
}

interface Known {
  readonly groups: Groups;
  readonly tools: readonly IdentifiedTool[];
  readonly lists: Lists;
  /** Names under `agents`. */
  readonly agents: readonly string[];
}

function readRule(section: Section, name: string, { groups, tools, lists, agents }: Known): AvailabilityRule {
  section.closed(configurationKeys['rules.<rule>']);
  const named = new Set(readTools(section, 'tools', tools));
  for (const key of readGroupNames(section, 'groups', groups))
    for (const { entry, id } of tools) if (groups.tags.get(entry.key)?.includes(key)) named.add(id);
  if (section.usable && !section.has('groups') && !section.has('tools'))
    section.problem(section.path, 'neither `groups` nor `tools`', 'what the rule is about: one of them, or both');
  const rule: AvailabilityRule = {
    name,
    tools: [...new Set(tools.map(({ id }) => id))].filter((id) => named.has(id)),
    ...only('whom', readWhom(section, tools, agents)),
    ...only('when', readContext(section, 'when')),
    ...only('unless', readContext(section, 'unless')),
    ...only('time', readTime(section)),
    ...only('load', readLoad(section)),
    ...only('history', readHistory(section, tools)),
    ...only('arguments', readBounds(section, lists)),
    ...only('totals', readTotals(section)),
  };
  if (section.usable && conditionsOf(rule) === 0 && rule.arguments === undefined && rule.totals === undefined) {
    const write = 'at least one of `when`, `unless`, `time`, `load`, `history`, `arguments` and `totals`';
    section.problem(section.path, 'no condition', write);
  }
  refuseImpossible(section, rule);
  return rule;
}

/** Names of groups that there are, and with each the groups below it. */
export function readGroupNames(section: Section, key: string, { tags, tree, open }: Groups): readonly string[] {
  const known = new Set([...Object.keys(tree), ...[...tags.values()].flat(), ...open, defaultGroup]);
  const names = section.names(key, 'a list of group names') ?? [];
  return names.flatMap((name, place) => {
    if (known.has(name)) return withGroupsBelow(name, tree);
    const [path, write] = [section.itemAt(key, place), suggestion(name, [...known])];
    if (name === wildcard) section.problem(path, 'the wildcard `*`', write);
    else section.unknown(path, 'group', name, write);
    return [];
  });
}

/** Conditions that no run can meet. */
function refuseImpossible(section: Section, { tools, history }: AvailabilityRule): void {
  if (history === undefined) return;
  const own = section.section('history');
  const both = history.after.filter((id) => history.notAfter.includes(id));
  if (both.length > 0)
    own.problem(own.at('not_after'), `${sentenceList(both)}, which \`after\` requires`, 'it in one of the two');
  const [only, ...others] = tools;
  if (
    only !== undefined &&
    others.length === 0 &&
    history.notAfter.includes(only) &&
    history.atMost !== null &&
    history.atMost > 1
  )
    own.problem(
      own.at('at_most'),
      `more than one call of ${only}, which is not available after itself`,
      '1, or nothing',
    );
}

/** Tools that wait for each other never run. */
function refuseCycles(section: Section, rules: readonly AvailabilityRule[], tools: readonly IdentifiedTool[]): void {
  const needs = new Map<string, { readonly id: string; readonly rule: string }[]>();
  for (const { name, tools: own, history } of rules)
    for (const id of own) {
      const before = [...(history?.after ?? []), ...(history?.whileApproved ?? [])];
      needs.set(id, [...(needs.get(id) ?? []), ...before.map((one) => ({ id: one, rule: name }))]);
    }
  const done = new Set<string>();
  const reported = new Set<string>();
  const visit = (id: string, path: readonly string[]): void => {
    if (done.has(id)) return;
    for (const { id: next, rule } of needs.get(id) ?? []) {
      const begin = [...path, id].indexOf(next);
      if (begin === -1) visit(next, [...path, id]);
      else if (!reported.has(rule)) {
        reported.add(rule);
        const cycle = [...path, id].slice(begin).map((one) => tools.find((tool) => tool.id === one)?.entry.key ?? one);
        const found =
          cycle.length === 1
            ? `${sentenceList(cycle)}, which waits for itself`
            : `a cycle: ${sentenceList(cycle)} wait for each other`;
        section.problem(`${section.at(rule)}.history`, found, 'tools that can run before it');
      }
    }
    done.add(id);
  };
  for (const id of needs.keys()) visit(id, []);
}

function conditionsOf({ when, unless, time, load, history }: AvailabilityRule): number {
  return [when ?? unless, time, load, history].filter((one) => one !== undefined).length;
}

/** The member, where it is there. */
export function only<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: T };
}

/** Conditions that hold for nothing: an empty list is met by no request, and a past that ends with each call. */
export function findAboutRules(rules: readonly AvailabilityRule[], allowed: readonly string[]): readonly Finding[] {
  return [...findEmptyConditions(rules), ...rules.flatMap((rule) => findEndedPast(rule, allowed))];
}

/** What a rule forbids after a call of its run holds for no call over MCP: each is a run of its own. */
function findEndedPast(
  { name, tools, when, whom, history }: AvailabilityRule,
  allowed: readonly string[],
): readonly Finding[] {
  if (history === undefined || (history.past ?? { within: 'run' }).within !== 'run') return [];
  const { notAfter, atMost, notWhileRunning = [] } = history;
  const isAboutBefore = notAfter.length > 0 || notWhileRunning.length > 0 || atMost !== null;
  const isClosedToMcp = [when?.channels, whom?.channels].some((one) => one?.includes('mcp') === false);
  const reached = tools.filter((id) => allowed.includes(id));
  if (!isAboutBefore || isClosedToMcp || reached.length === 0) return [];
  const message = `The rule ${quote(name)} looks at the calls of one run, and over MCP each call of ${sentenceList(reached)} is a run of its own, so that it never holds there: write \`within: session\` or \`within: user\`, or bind it to other channels by \`for\`.`;
  return [{ kind: 'ends_with_run', path: `rules.${name}.history`, message }];
}

function findEmptyConditions(rules: readonly AvailabilityRule[]): readonly Finding[] {
  return rules.flatMap((rule) =>
    (['when', 'unless'] as const).flatMap((key) =>
      emptyLists(rule[key]).map((name): Finding => {
        const effect = key === 'when' ? 'closes its tools for every request' : 'closes nothing';
        return {
          kind: 'empty_condition',
          path: `rules.${rule.name}.${key}.${name}`,
          message: `The list is empty, which no request meets, so the rule ${quote(rule.name)} ${effect}: name what it is to be, or leave it out.`,
        };
      }),
    ),
  );
}

/** The names of the lists of a condition that are empty. */
function emptyLists(condition: ContextCondition | undefined): readonly string[] {
  const { claims = {}, ...others } = condition ?? {};
  const lists = [
    ...Object.entries(others),
    ...Object.entries(claims).map(([name, list]) => [`claims.${name}`, list] as const),
  ];
  return lists.flatMap(([name, list]) => (Array.isArray(list) && list.length === 0 ? [name] : []));
}
