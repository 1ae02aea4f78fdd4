import { agentBegunBy, printable, printableIn, toolChoiceOf, toolIndexCount, whyIncomplete } from '@sluice/core';
import type { Configuration, ToolChoice } from '@sluice/core';
import { howToDecide, offeredWords } from '@sluice/contracts';
import type {
  AgentProgress,
  AgentResponse,
  AgentStep,
  AgentStepResult,
  Approval,
  CallDecision,
  Run,
  StrategyDecision,
  ToolCall,
  Toolset,
} from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { whoMayApprove } from '../approvals/who-may-approve.js';
import type { Paint } from './paint.js';

/** How much of an observation or of arguments one line shows. */
const shownCharacters = 160;
const gap = '   ';

/** Tells a run in words, a block an iteration, read off the records alone. */
export class Story {
  constructor(
    private readonly write: (text: string) => void,
    private readonly paint: Paint,
    /** Says who may decide on calls that wait. */
    private readonly inForce: Pick<Configuration, 'version' | 'policy'> | null = null,
  ) {}

  /** The last iteration whose beginning was written. */
  private begun = 0;
  /** Steps that the request brought along, which are none of this run. */
  private brought = 0;
  /** Steps that were written, by iteration and index. */
  private readonly written = new Set<string>();

  tell(told: Incoming): void {
    const message = printableIn(told);
    switch (message.topic) {
      case 'agent.toolsets':
        return this.iteration(message.record);
      case 'agent.tool-calls':
        if (message.record.request.call !== null) this.parkedCall(message.record);
        this.decision(message.record);
        if (message.record.thought !== '') this.line('thought', message.record.thought);
        return;
      case 'agent.steps':
        if (message.record.call !== null) this.ownCall(message.record, message.record.call);
        this.agent(message.record);
        for (const step of message.record.steps) this.step(step);
        return;
      case 'agent.responses':
        return this.end(message.record);
      case 'agent.approvals':
        return this.approval(message.record);
      case 'agent.progress':
        return this.retry(message.record);
      default:
        return;
    }
  }

  private iteration(toolset: Toolset): void {
    if (toolset.iteration === 1) this.brought = toolset.request.history.length;
    this.begin(toolset.iteration, toolset.state, offeredWords(toolset, this.paint.tool));
    if (toolset.toolChoice !== null) this.line('choice', inWords(toolChoiceOf(toolset.toolChoice)));
    if (toolset.iteration === 1 && (toolset.run.memory ?? []).length > 0)
      this.line('memory', `earlier runs: ${(toolset.run.memory ?? []).map(({ requestId }) => requestId).join(', ')}`);
    this.line('hidden', this.paint.dim(hiddenIn(toolset)));
    this.unknown(toolset);
  }

  private begin(iteration: number, state: string, offered: string | null): void {
    const { paint } = this;
    this.begun = iteration;
    this.write(`\n${paint.strong(`Iteration ${iteration}`)}  ${paint.dim('in state')} ${paint.state(state)}\n`);
    if (offered !== null) this.line('offered', offered);
  }

  /** A call that its request makes itself has no Toolset: its step says what was decided. */
  private ownCall({ iteration, run, steps, next }: AgentStepResult, decided: CallDecision): void {
    this.brought = next.history.length - steps.length;
    if (this.begun >= iteration) return;
    const { hidden, hiddenCounts } = decided;
    const count = offeredCount(run, hiddenCounts);
    const [step] = steps;
    const isAlone = count === 1 && hidden.length === 0 && step !== undefined;
    const words = isAlone ? this.paint.tool(step.action) : count === 0 ? 'no tools' : `${count} tools`;
    this.begin(iteration, run.initialState, words);
    if (decided.toolChoice !== null) this.line('choice', inWords(toolChoiceOf(decided.toolChoice)));
    this.line('hidden', this.paint.dim(hiddenIn({ hidden: [], hiddenCounts })));
    this.unknown(decided);
  }

  /** The same where the call waits: it was offered. */
  private parkedCall({ iteration, request, run, list, offered }: ToolCall): void {
    this.brought = request.history.length;
    if (this.begun >= iteration) return;
    const count = list === null ? offered.length : toolIndexCount(list.indexes);
    this.begin(iteration, run.initialState, count === 1 ? '1 tool' : `${count} tools`);
  }

  private unknown({ unknownGroups }: Pick<Toolset, 'unknownGroups'>): void {
    if (unknownGroups.length > 0) this.line('unknown', `groups that no tool carries: ${unknownGroups.join(', ')}`);
  }

  private decision({ decision }: Pick<ToolCall, 'decision'>): void {
    if (decision !== null)
      this.line('strategy', `${decision.strategy}: ${decision.action}${surety(decision)}. ${shorten(decision.reason)}`);
  }

  private step(step: AgentStep): void {
    const { paint } = this;
    this.written.add(`${step.iteration}/${step.index}`);
    this.line('call', `${paint.tool(step.action)} ${shorten(step.arguments)}`);
    const failed = step.outcome === 'ok' ? '' : `${paint.bad(step.outcome)} `;
    this.line('observed', `${failed}${shorten(step.observation)}`);
    const changed = step.state === step.stateBefore;
    this.line(
      'state',
      changed ? paint.dim(`stays ${step.state}`) : `${paint.state(step.stateBefore)} → ${paint.state(step.state)}`,
    );
  }

  /** A call that runs as a sub-agent: its records are shown under its own request_id. */
  private agent(result: AgentStepResult): void {
    const begunBy = agentBegunBy(result);
    if (begunBy !== null)
      this.line('agent', `${this.paint.tool(begunBy.tool)} runs as an agent of its own: ${result.requestId}`);
  }

  /** Everything else of the progress stands on the records that follow as well. */
  private retry({ kind, text, retryAt, at }: AgentProgress): void {
    if (kind !== 'model_retry' || retryAt === null) return;
    const seconds = Math.max(1, Math.round((retryAt - at) / 1_000));
    this.line('waits', `the model is asked again in ${seconds} s: ${text}`);
  }

  private approval({ requested, outcome, escalated }: Approval): void {
    const { paint } = this;
    if (requested !== null) {
      const { approvalId, tool, expiresAt, inForceVersion, question } = requested;
      if (question !== null) {
        const who = `its caller to answer a form of ${printable(question.server)}`;
        return this.line('waits', `${paint.tool(tool)} waits for ${who} until ${new Date(expiresAt).toISOString()}`);
      }
      // Another configuration may have been applied since.
      const isKnown = this.inForce?.version === inForceVersion;
      const by =
        isKnown && this.inForce !== null
          ? ` by ${whoMayApprove(this.inForce.policy, requested, requested.requestedAt)}`
          : '';
      this.line('waits', `${paint.tool(tool)} needs an approval${by} until ${new Date(expiresAt).toISOString()}:`);
      this.line('', paint.strong(howToDecide(approvalId)));
    }
    if (escalated !== null)
      this.line('waits', `${escalated.approvalId}: ${escalated.to.join(', ')} may decide too now`);
    if (outcome !== null) {
      const { decision, decidedBy, notTaken, stillNeeded } = outcome;
      const waits = stillNeeded === 0 ? '' : `, and ${stillNeeded} more to come`;
      this.line(
        'decided',
        `${decision} by ${decidedBy}${waits}${notTaken === null ? '' : paint.bad(` does not count: ${notTaken}`)}`,
      );
    }
  }

  private end(response: AgentResponse): void {
    const { paint } = this;
    // On Kafka the end may be read before a step that was written earlier, or with it: it has all of them.
    for (const step of response.history.slice(this.brought)) {
      if (this.written.has(`${step.iteration}/${step.index}`)) continue;
      if (this.begun < step.iteration) this.begin(step.iteration, step.stateBefore, null);
      this.step(step);
    }
    this.decision(response);
    if (response.error !== null) {
      this.write(`\n${paint.bad('No answer')}  ${response.error.message} ${paint.dim(`(${response.error.code})`)}\n`);
      return;
    }
    this.write(`\n${paint.strong('Answer')}  ${response.answer ?? ''}\n`);
    if (response.incomplete !== null) this.line('', paint.bad(whyIncomplete(response.incomplete)));
  }

  private line(label: string, text: string): void {
    this.write(`${gap}${this.paint.dim(label.padEnd(9))}${text}\n`);
  }
}

/** What was measured before a decision, and how sure the answer that it asks for can be. */
function surety({ score, confidence }: StrategyDecision): string {
  const measured = score === null ? '' : ` (measured ${score.confidence} of ${score.threshold})`;
  return confidence === null ? measured : `${measured} (confidence ${confidence})`;
}

/** The command that decides on a waiting call. */
function inWords(choice: ToolChoice): string {
  switch (choice.type) {
    case 'auto':
      return 'tools are called as the model likes';
    case 'none':
      return 'no tool is to be called';
    case 'required':
      return 'a tool must be called';
    case 'tool':
      return `${choice.id} must be called`;
  }
}

/** Two texts that differ, each on one line and cut where it gets long, but never before the place where they differ. */
export function shortenApart(was: string, is: string, characters = shownCharacters): readonly [string, string] {
  const lines = [was, is].map((text) => text.replace(/\s+/g, ' ').trim()) as [string, string];
  const [left, right] = lines;
  let same = 0;
  while (same < left.length && left[same] === right[same]) same++;
  const from = same < characters - 12 ? 0 : same - 12;
  const cut = (line: string) => shorten(`${from === 0 ? '' : '…'}${line.slice(from)}`, characters);
  return [cut(left), cut(right)];
}

/** A text on one line, cut where it gets long. */
export function shorten(text: string, characters = shownCharacters): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= characters ? line : `${line.slice(0, characters - 1)}…`;
}

/** Tools of the run’s groups and state that nothing else hid, by the first reason of each that was hidden. */
function offeredCount({ availableTools, firstTools }: Run, hidden: Readonly<Record<string, number>>): number {
  const eligible = firstTools === null ? availableTools.length : toolIndexCount(firstTools.available);
  const others = Object.entries(hidden).filter(([reason]) => reason !== 'group' && reason !== 'state');
  return eligible - others.reduce((sum, [, count]) => sum + count, 0);
}

/** By name where the record has them, else how many for each first reason. */
function hiddenIn({ hidden, hiddenCounts }: Pick<Toolset, 'hidden' | 'hiddenCounts'>): string {
  if (hidden.length > 0) return hidden.map(({ key, reasons }) => `${key} (${reasons.join(', ')})`).join(', ');
  const counts = Object.entries(hiddenCounts).map(([reason, count]) => `${count} (${reason})`);
  return counts.join(', ') || 'nothing';
}
