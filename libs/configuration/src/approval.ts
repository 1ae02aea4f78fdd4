import {
  approverKinds,
  changingEffects,
  personKind,
  quote,
  serviceKind,
  suggestion,
  toolEffects,
  wildcard,
} from '@sluice/core';
import type { ApprovalRule, Lists, Policy, ToolEffect } from '@sluice/core';
import { formOfPrincipal, principalForm } from './authorization.js';
import type { Groups } from './group-map.js';
import type { IdentifiedTool } from './identities.js';
import { configurationKeys } from './keys.js';
import { longestParkedSeconds } from './limits.js';
import { only, readGroupNames } from './rules.js';
import { readBounds, refuseLookups } from './bounds.js';
import { readTools, readWhom } from './rule-conditions.js';
import type { Section } from './section.js';

/** How long an approval is waited for. */
const approvalSeconds = { byDefault: 86_400, most: longestParkedSeconds } as const;
/** The most approvers that one call can need. */
const mostPersons = 20;

type Approval = Pick<
  Policy,
  | 'approvalEffects'
  | 'approvalWaived'
  | 'approvers'
  | 'approvalMs'
  | 'requesterMayNotApprove'
  | 'approvalRules'
  | 'decideFor'
>;

/** `policy.approval`: which calls wait for a person, for whom, and for how long. */
export function readApproval(
  section: Section,
  tools: readonly IdentifiedTool[],
  groups: Groups,
  lists: Lists,
  agents: readonly string[] = [],
): Approval {
  section.closed(configurationKeys['policy.approval']);
  const approvalWaived = section.text('none', 'why no call needs an approval, in a sentence');
  for (const key of approvalWaived === null ? [] : (['approvers', 'effects', 'rules'] as const))
    if (section.has(key))
      section.problem(
        section.at(key),
        'a setting beside `none`',
        'either `none` with the reason, or who approves what',
      );
  const approvers = readApprovers(section, 'approvers') ?? [];
  const ofRules = section.section('rules');
  const approvalRules = ofRules
    .keys()
    .map((name) => readRule(ofRules.section(name), name, approvers, { tools, groups, lists, agents }));
  const decideFor = readOnBehalf(section.section('on_behalf'));
  const byDefault = approvers.length + approvalRules.length > 0 ? changingEffects : [];
  return {
    approvalEffects: section.has('effects') ? readEffects(section) : byDefault,
    ...(approvalWaived === null ? {} : { approvalWaived }),
    approvers,
    approvalMs: section.wholeNumber('expires_seconds', approvalSeconds) * 1_000,
    requesterMayNotApprove: section.flag('requester_may_not_approve') ?? false,
    ...(approvalRules.length === 0 ? {} : { approvalRules }),
    ...(Object.keys(decideFor).length === 0 ? {} : { decideFor }),
  };
}

/** Which services decide for which persons. */
function readOnBehalf(section: Section): Readonly<Record<string, readonly string[]>> {
  const entries = section.keys().map((service) => {
    if (!service.startsWith(serviceKind) || service.length === serviceKind.length)
      section.problem(section.at(service), quote(service), 'a service such as `service:desk`');
    const persons = section.names(service, 'a list of persons, such as `[user:ann]` or `["user:*"]`') ?? [];
    persons.forEach((person, place) => {
      if (!person.startsWith(personKind) || person.length === personKind.length)
        section.problem(section.itemAt(service, place), quote(person), 'a person such as `user:ann`, or `user:*`');
    });
    return [service, persons] as const;
  });
  return Object.fromEntries(entries);
}

interface Known {
  readonly tools: readonly IdentifiedTool[];
  readonly groups: Groups;
  readonly lists: Lists;
  /** Names under `agents`. */
  readonly agents: readonly string[];
}

/** A rule of `policy.approval.rules`: which calls it asks about, who approves them, and what happens without them. */
function readRule(
  section: Section,
  name: string,
  byDefault: readonly string[],
  { tools, groups, lists, agents }: Known,
): ApprovalRule {
  section.closed(configurationKeys['policy.approval.rules.<rule>']);
  const named = new Set(readTools(section, 'tools', tools));
  for (const key of readGroupNames(section, 'groups', groups))
    for (const { entry, id } of tools) if (groups.tags.get(entry.key)?.includes(key)) named.add(id);
  if (section.usable && !(['tools', 'groups', 'effects'] as const).some((key) => section.has(key)))
    section.problem(section.path, 'neither `tools` nor `groups` nor `effects`', 'what the rule is about');
  const approvers = readApprovers(section, 'approvers');
  const escalate = readEscalation(section);
  const quorum = section.wholeNumber('quorum', { byDefault: 1, most: mostPersons });
  const unless = readBounds(section, lists, 'unless', true);
  refuseLookups(section.section('unless'), unless ?? {}, lists);
  refuseTooFew(section, quorum, [...(approvers ?? byDefault), ...(escalate?.to ?? [])]);
  return {
    name,
    tools: [...new Set(tools.map(({ id }) => id))].filter((id) => named.has(id)),
    effects: section.has('effects') ? readEffects(section) : [],
    ...only('whom', readWhom(section, tools, agents)),
    ...only('unless', unless),
    quorum,
    ...only('approvers', approvers ?? undefined),
    ...only('escalate', escalate),
    ...(section.has('expires_seconds')
      ? { expiresMs: section.wholeNumber('expires_seconds', approvalSeconds) * 1_000 }
      : {}),
    onExpiry: section.choice('on_expiry', ['refuse', 'run']) ?? 'refuse',
  };
}

/** A rule that can never be met: its calls would all expire. */
function refuseTooFew(section: Section, quorum: number, entries: readonly string[]): void {
  if (!section.usable) return;
  if (entries.length === 0)
    section.problem(section.path, 'no approvers', '`approvers` here, or under `policy.approval` for all rules');
  else if (entries.every((entry) => principalForm.test(entry)) && new Set(entries).size < quorum)
    section.problem(
      section.at('quorum'),
      `${String(quorum)} approvers of ${String(new Set(entries).size)}`,
      'a quorum that its approvers can reach, or more approvers',
    );
}

function readEscalation(section: Section): ApprovalRule['escalate'] {
  if (!section.has('escalate')) return undefined;
  const own = section.section('escalate').closed(configurationKeys['policy.approval.rules.<rule>.escalate']);
  const to = readApprovers(own, 'to') ?? [];
  if (own.usable && to.length === 0) own.problem(own.at('to'), 'no one', 'who may decide then too');
  if (own.usable && !own.has('after_seconds'))
    own.problem(own.at('after_seconds'), 'no time', 'after how many seconds the others may decide too');
  return { afterMs: own.wholeNumber('after_seconds', approvalSeconds) * 1_000, to };
}

function readApprovers(section: Section, key: 'approvers' | 'to'): readonly string[] | null {
  const names = section.names(key, `a list of principals, or \`["*"]\` for everybody`);
  names?.forEach((name, place) => {
    if (name === wildcard && names.length > 1)
      section.problem(section.at(key), '`*` among other entries', '`*` alone, or the others without it');
    else if (name !== wildcard && !principalForm.test(name) && !isOfCredential(name))
      section.problem(section.itemAt(key, place), `the text ${quote(name)}`, formOfApprover);
  });
  return names;
}

const formOfApprover = `${formOfPrincipal}, or \`group:finance\`, \`role:treasurer\` or \`claim:department=finance\` of a credential`;

/** Whether the entry is about what a credential says: a group, a role, or the value of a claim. */
function isOfCredential(entry: string): boolean {
  const kind = approverKinds.find((one) => entry.startsWith(one));
  if (kind === undefined || entry.length === kind.length) return false;
  return kind !== 'claim:' || /^claim:[^=]+=./s.test(entry);
}

/** In the order of the effects' list, so that the order in the file makes no new version. */
function readEffects(section: Section): readonly ToolEffect[] {
  const names = section.names('effects', 'a list of effects, such as `[state_change, external_side_effect]`') ?? [];
  names.forEach((name, place) => {
    if (toolEffects.some((effect) => effect === name)) return;
    section.problem(
      section.itemAt('effects', place),
      `the unknown effect ${quote(name)}`,
      suggestion(name, toolEffects),
    );
  });
  return toolEffects.filter((effect) => names.includes(effect));
}
