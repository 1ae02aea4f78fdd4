import { dwellTimes } from '@sluice/core';
import type { AvailabilityRule, ConfiguredTool, Evaluator, ReconcileAnswer, Step, ToolErrorReason } from '@sluice/core';
import { boundedLabel, otherLabel } from '@sluice/run';
import type { Loaded } from '@sluice/run';
import type { ToolCall } from '@sluice/contracts';
import type { Metrics, Runtime } from '@sluice/host';
import { processEnds } from '@sluice/isolation';
import type { ToolContract } from '@sluice/tools';

/**
 * Counts a call that became a step, under the names of the configuration that granted it. How long one took that was
 * begun before and is only published now, is unknown.
 */
function measureStep(step: Step, evaluator: Evaluator, metrics: Metrics, isToldOf: boolean): void {
  const known = evaluator.tool(step.action);
  const tool = known === undefined ? otherLabel : toolLabel(known);
  const source = known === undefined ? otherLabel : sourceOf(known);
  metrics.toolCalls.inc({ tool, source, outcome: step.outcome });
  if (!isToldOf) metrics.toolDuration.observe({ tool }, Math.max(0, step.endedAt - step.startedAt) / 1_000);
  metrics.toolBytes.inc({ tool, direction: 'arguments' }, Buffer.byteLength(step.arguments));
  metrics.toolBytes.inc({ tool, direction: 'result' }, Buffer.byteLength(step.observation));
  if (step.documentation !== null) metrics.deferredFirstUses.inc({ tool, documentation: step.documentation });
  if (step.reason === 'not_eligible_state') metrics.invalidTransitions.inc();
  if (step.rule !== null)
    metrics.ruleRefusals.inc({ rule: boundedLabel(step.rule, namesOfRules(evaluator)), kind: kindOf(step) });
  if (step.reason === 'outcome_unknown') metrics.unknownOutcomes.inc({ tool });
  if (step.state === step.stateBefore) return;
  metrics.stateTransitions.inc({ tool });
  const [from, to] = [step.stateBefore, step.state].map((state) => boundedLabel(state, evaluator.rules.knownStates));
  metrics.stateChanges.inc({ from: from as string, to: to as string });
}

/**
 * Counts the steps of a turn once they are on the log. The record’s request, which may be long, is not kept until then.
 * `begunBefore` are steps of calls that an earlier attempt began.
 */
export function measureSteps(
  { requestId, run }: ToolCall,
  steps: readonly Step[],
  { evaluator }: Loaded,
  begunBefore: ReadonlySet<Step>,
  { metrics, log }: Pick<Runtime, 'metrics' | 'log'>,
): () => void {
  return () => {
    for (const step of steps) {
      measureStep(step, evaluator, metrics, begunBefore.has(step));
      if (step.reason === 'service_lost') {
        log.error(
          { request_id: requestId, tool: step.action, tool_call_id: step.toolCallId },
          'each attempt at a call ended with its executor, so it was dead-lettered; find out what in the tool ends the process',
        );
      }
      if (step.reason === 'outcome_unknown') {
        log.error(
          { request_id: requestId, tool: step.action, tool_call_id: step.toolCallId },
          'the outcome of an effect is not known; find out whether it happened',
        );
      }
    }
    for (const { state, milliseconds } of dwellTimes(run, steps)) {
      metrics.workflowDuration.observe(
        { state: boundedLabel(state, evaluator.rules.knownStates) },
        milliseconds / 1_000,
      );
    }
  };
}

/** What may happen to a tool is there from the start, at 0: otherwise its first time would not show as an increase. */
export function countFromZero({ configuration, evaluator }: Loaded, metrics: Metrics): void {
  for (const rule of evaluator.argumentRules.names) metrics.ruleRefusals.inc({ rule, kind: 'arguments' }, 0);
  for (const rule of configuration.rules ?? [])
    for (const kind of kindsOf(rule)) metrics.ruleRefusals.inc({ rule: rule.name, kind }, 0);
  for (const tool of configuration.tools) {
    metrics.toolCalls.inc({ tool: tool.key, source: sourceOf(tool), outcome: 'ok' }, 0);
    if (tool.descriptionMode === 'deferred')
      for (const documentation of ['read', 'unread'])
        metrics.deferredFirstUses.inc({ tool: tool.key, documentation }, 0);
    if (tool.target !== null) metrics.stateTransitions.inc({ tool: tool.key }, 0);
    if (tool.spec !== null && tool.spec.effect !== 'read_only') metrics.unknownOutcomes.inc({ tool: tool.key }, 0);
  }
}

/** By the reason of a refusal: what of a rule refused the call. */
const kinds = {
  arguments_out_of_bounds: 'arguments',
  total_used: 'total',
  closed_by_context: 'context',
  closed_by_time: 'time',
  closed_by_load: 'load',
  closed_by_history: 'history',
} as const satisfies Partial<Record<ToolErrorReason, string>>;

function kindOf({ reason }: Step): string {
  return reason !== null && Object.hasOwn(kinds, reason) ? kinds[reason as keyof typeof kinds] : otherLabel;
}

/** What of the rule can refuse a call, beside its bounds of arguments. */
function kindsOf({ when, unless, time, load, history, totals }: AvailabilityRule): readonly string[] {
  const parts = { context: when ?? unless, time, load, history, total: totals };
  return Object.entries(parts).flatMap(([kind, part]) => (part === undefined ? [] : [kind]));
}

function namesOfRules({ argumentRules, configuration: { rules = [] } }: Evaluator): ReadonlySet<string> {
  return new Set([...argumentRules.names, ...rules.map(({ name }) => name)]);
}

const reconcileAnswers: readonly ReconcileAnswer['outcome'][] = ['happened', 'did_not_happen', 'unknown'];

/** The same for what is known once the tool files are loaded; `own` are their contracts. */
export function countFilesFromZero(
  { tools }: Loaded['configuration'],
  own: readonly ToolContract[],
  metrics: Metrics,
): void {
  for (const { type } of own)
    for (const reason of processEnds) if (reason !== 'closed') metrics.toolProcessEnds.inc({ type, reason }, 0);
  for (const { key, type, mcp } of tools) {
    const canTell =
      mcp === null ? own.some((one) => one.type === type && one.reconcile !== undefined) : mcp.reconcile !== undefined;
    if (!canTell) continue;
    for (const answer of reconcileAnswers) metrics.reconciledCalls.inc({ tool: key, answer }, 0);
  }
}

/** A tool in metrics: those of clients have the names that these give them, which are without end. */
export function toolLabel({ key, isClients }: Pick<ConfiguredTool, 'key' | 'isClients'>): string {
  return isClients === true ? clients : key;
}

const clients = 'client';

function sourceOf({ mcp, isClients }: ConfiguredTool): string {
  return isClients === true ? clients : (mcp?.server ?? 'core');
}
