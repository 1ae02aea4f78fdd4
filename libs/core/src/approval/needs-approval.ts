import { binds, isKnownToBind } from '../availability/conditions.js';
import type { RuleFacts } from '../availability/types.js';
import { allGiven, compileBounds, outOfBounds } from '../bounds/compile-bounds.js';
import type { CompiledBounds } from '../bounds/compile-bounds.js';
import { withSchemaDefaults } from '../bounds/schema-defaults.js';
import type { ArgumentBounds, Lists } from '../bounds/types.js';
import type { JsonValue } from '../json.js';
import { quote } from '../quote.js';
import { toolEffects } from '../tool/types.js';
import type { ToolEffect } from '../tool/types.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { IdentitySettings } from '../settings/identity-types.js';
import type { ApprovalRule, Escalation, OnExpiry, Policy } from '../settings/policy-types.js';
import { canReach } from './answerable.js';

/** The effects that need an approval where there are approvers and nothing else is written. */
export const changingEffects: readonly ToolEffect[] = toolEffects.filter((effect) => effect !== 'read_only');

/** What asks for an approval of a call, and what it asks for. */
export interface ApprovalAsk {
  readonly rule: 'effect' | 'plan' | 'rule';
  /** The name of the rule; empty for the others. */
  readonly name: string;
  /** Why it asks, in a sentence. */
  readonly message: string;
  /** How many approvers have to approve the call. */
  readonly quorum: number;
  readonly approvers: readonly string[];
  /** Who else may decide after a time; null for no one. */
  readonly escalate: Escalation | null;
  /** How long the call may wait, in milliseconds. */
  readonly expiresMs: number;
  readonly onExpiry: OnExpiry;
}

type AskedTool = Pick<ConfiguredTool, 'spec' | 'plan'> & { readonly id?: string };
type Asking = Pick<Policy, 'approvalEffects' | 'approvalRules'>;
type AskingPolicy = Asking & Pick<Policy, 'approvers' | 'approvalMs'>;

/** A call as rules on approvals judge it. */
interface JudgedCall {
  /** The validated arguments. */
  readonly args: JsonValue;
  readonly facts: RuleFacts;
  readonly state: string;
  readonly lists?: Lists;
}

/**
 * Whether a call of the tool can need an approval: of which calls, `approvalAsks` says. A tool without a specification
 * counts as the worst.
 */
export function needsApproval(tool: AskedTool, policy: Asking): boolean {
  return tool.plan?.approve === true || rulesAbout(tool, policy).length > 0 || asksByEffect(tool, policy);
}

/**
 * All that asks for an approval of a call. Where rules are about its tool and its caller, they ask in place of the
 * effect; where that is not known of any, the effect asks as well. Each of them has to have its approvers. Without a
 * call, all that can ask.
 */
export function approvalAsks(
  tool: AskedTool,
  policy: AskingPolicy,
  call: JudgedCall | null = null,
): readonly ApprovalAsk[] {
  const { approvers, approvalMs: expiresMs } = policy;
  const plain = { name: '', quorum: 1, approvers, escalate: null, expiresMs, onExpiry: 'refuse' } as const;
  if (tool.plan?.approve === true) {
    const message = 'The run’s strategy has plans approved before their calls are made.';
    return [{ ...plain, rule: 'plan', message }];
  }
  const about = rulesAbout(tool, policy);
  const rules = call === null ? about : about.filter(({ whom }) => binds(whom, call.facts, call.state));
  const ofRules = rules.flatMap((rule) => asksOfRule(rule, tool, policy, call));
  const isDisplaced = rules.some(({ whom }) => call === null || isKnownToBind(whom, call.facts, call.state));
  if (isDisplaced || !asksByEffect(tool, policy)) return ofRules;
  const message = `policy.approval asks for an approval of calls with the effect ${effectOf(tool)}.`;
  return [...ofRules, { ...plain, rule: 'effect', message }];
}

/** What the rule asks of the call: nothing where all that it names is given, and within the bounds that need none. */
function asksOfRule(
  rule: ApprovalRule,
  { spec }: AskedTool,
  policy: AskingPolicy,
  call: JudgedCall | null,
): readonly ApprovalAsk[] {
  if (call === null || rule.unless === undefined) return [askOf(rule, policy, '')];
  const args = withSchemaDefaults(spec?.inputSchema, call.args);
  const out = outOfBounds(compiled(rule.unless, call.lists), args, call.facts);
  return out === null ? [] : [askOf(rule, policy, ` The argument ${out.path} is beyond what needs none: ${out.why}.`)];
}

const compiledBounds = new WeakMap<ArgumentBounds, CompiledBounds>();

/** Once for each rule of a configuration. */
function compiled(bounds: ArgumentBounds, lists: Lists | undefined): CompiledBounds {
  const known = compiledBounds.get(bounds) ?? compileBounds(allGiven(bounds), lists);
  compiledBounds.set(bounds, known);
  return known;
}

function askOf(
  { name, quorum, approvers, escalate, expiresMs, onExpiry }: ApprovalRule,
  policy: AskingPolicy,
  why: string,
): ApprovalAsk {
  const persons = quorum === 1 ? 'an approval' : `the approvals of ${quorum} persons`;
  return {
    rule: 'rule',
    ...{ name, quorum, onExpiry },
    message: `The rule ${quote(name)} asks for ${persons} of this call.${why}`,
    approvers: approvers ?? policy.approvers,
    escalate: escalate ?? null,
    expiresMs: expiresMs ?? policy.approvalMs,
  };
}

function rulesAbout(tool: AskedTool, { approvalRules = [] }: Asking): readonly ApprovalRule[] {
  const effect = effectOf(tool);
  return approvalRules.filter(
    ({ tools, effects }) => effects.includes(effect) || (tool.id !== undefined && tools.includes(tool.id)),
  );
}

function asksByEffect(tool: AskedTool, { approvalEffects }: Asking): boolean {
  return approvalEffects.includes(effectOf(tool));
}

function effectOf({ spec }: AskedTool): ToolEffect {
  return spec?.effect ?? 'external_side_effect';
}

/**
 * Whether calls of the tool can change something and run without an approval, though the file does not say that this
 * is meant.
 */
export function runsWithoutApproval(tool: AskedTool, policy: Asking & Pick<Policy, 'approvalWaived'>): boolean {
  if (policy.approvalEffects.length > 0 || policy.approvalWaived !== undefined || tool.spec === null) return false;
  return changingEffects.includes(tool.spec.effect) && rulesAbout(tool, policy).length === 0;
}

/**
 * Whether the tool can be called at all: one that needs an approval is denied while no one can give it. Whom entries of
 * approvers can name depends on the identity that is configured.
 */
export function approvable(tool: AskedTool, policy: AskingPolicy, provider: IdentitySettings['provider']): boolean {
  return approvalAsks(tool, policy).every(({ quorum, approvers, escalate }) =>
    canReach(quorum, [...approvers, ...(escalate?.to ?? [])], provider),
  );
}
