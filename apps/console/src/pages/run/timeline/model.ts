import type { AgentCall, ApprovalOutcome, AskedApproval, RunEvent, ToolCall, Usage } from '@sluice/client';
import { reported } from '../../../ui/format.js';

/** What happened in a run, each thing once, in whatever order its events came. Rows are made of it in rows.ts. */

export interface ApprovalItem {
  readonly approval: AskedApproval;
  readonly outcome: ApprovalOutcome | null;
}

type Result = Extract<RunEvent, { type: 'tool_result' }>;
type Decision = Extract<RunEvent, { type: 'decision' }>['decision'];
type End = Extract<RunEvent, { type: 'end' }>;
type Retry = Extract<RunEvent, { type: 'model_retry' }>;

export interface CallItem {
  readonly id: string;
  iteration: number;
  /** As the model named it; empty while only its result is known. */
  tool: string;
  arguments: string;
  /** When this page heard that it began; null where it did not follow meanwhile. */
  heardAt: number | null;
  progress: string | null;
  result: Result | null;
}

export interface IterationItem {
  readonly number: number;
  state: string | null;
  /** The ids of the tools that were offered. */
  tools: readonly string[];
  /** What the model said, a part each. */
  readonly texts: string[];
  readonly calls: CallItem[];
  readonly retries: Retry[];
  decision: Decision | null;
  usage: Usage | null;
}

interface AgentItem {
  readonly agent: AgentCall;
  readonly timeline: RunTimeline;
}

/** When a call ran, as the run’s JSON has it, and the key of its tool. */
export type CallTimes = ReadonlyMap<string, ToolCall>;

export class RunTimeline {
  readonly iterations = new Map<number, IterationItem>();
  readonly calls = new Map<string, CallItem>();
  /** Runs of agents that this run calls, and of agents that these call, by their ids. */
  readonly agents = new Map<string, AgentItem>();
  readonly approvals = new Map<string, AskedApproval>();
  readonly outcomes = new Map<string, ApprovalOutcome>();
  private readonly approvalsByCall = new Map<string, string[]>();
  private readonly agentsByCall = new Map<string, string>();
  end: End | null = null;
  /** Counts what changed, so that rows are made again only then. */
  revision = 0;
  private iteration = 0;

  constructor(readonly runId: string) {}

  /** `now` stands for when the event came, in milliseconds since the epoch. */
  apply(event: RunEvent, now: number): void {
    this.revision++;
    switch (event.type) {
      case 'iteration': {
        const item = this.begin(event.iteration);
        item.state = event.state;
        item.tools = event.tools;
        return;
      }
      case 'text': {
        const { texts } = this.begin(event.iteration);
        while (texts.length <= event.part) texts.push('');
        texts[event.part] += event.text;
        return;
      }
      case 'tool_call': {
        const call = this.callOf(event.tool_call_id, event.iteration);
        call.tool = event.tool;
        call.arguments = event.arguments;
        return;
      }
      case 'tool_started':
        this.callOf(event.tool_call_id).heardAt ??= now;
        return;
      case 'tool_progress':
        this.callOf(event.tool_call_id).progress = reported(event);
        return;
      case 'tool_result': {
        const call = this.callOf(event.tool_call_id);
        if (call.result === null || call.result.is_preliminary) call.result = event;
        return;
      }
      case 'model_retry': {
        const { retries } = this.begin(event.iteration);
        if (!retries.some(({ attempt }) => attempt === event.attempt)) retries.push(event);
        return;
      }
      case 'decision':
        this.begin(Number(event.decision['iteration']) || this.iteration).decision = event.decision;
        return;
      case 'approval_requested': {
        const { approval } = event;
        if (this.approvals.has(approval.approval_id)) return;
        this.approvals.set(approval.approval_id, approval);
        const ids = this.approvalsByCall.get(approval.tool_call_id) ?? [];
        this.approvalsByCall.set(approval.tool_call_id, [...ids, approval.approval_id]);
        this.callOf(approval.tool_call_id, approval.iteration);
        return;
      }
      case 'approval_outcome':
        // The first decision counts; what is said of a later one says why it did not.
        if (event.outcome.not_taken === null || !this.outcomes.has(event.outcome.approval_id))
          this.outcomes.set(event.outcome.approval_id, event.outcome);
        return;
      case 'iteration_end':
        this.begin(event.iteration).usage = event.usage;
        return;
      case 'agent':
        this.agentOf(event.agent).timeline.apply(event.event, now);
        return;
      case 'end':
        this.end = event;
        return;
      default:
        return;
    }
  }

  /** The run of an agent that a call of this or another run is. */
  agentOfCall(runId: string, callId: string): AgentItem | null {
    if (this.agents.size === 0) return null;
    return this.agents.get(this.agentsByCall.get(`${runId} ${callId}`) ?? '') ?? null;
  }

  /** The approvals that a call was asked about, in the order in which they came. */
  approvalsOf(callId: string): readonly ApprovalItem[] {
    if (this.approvals.size === 0) return [];
    return (this.approvalsByCall.get(callId) ?? []).flatMap((id) => {
      const approval = this.approvals.get(id);
      return approval === undefined ? [] : [{ approval, outcome: this.outcomes.get(id) ?? null }];
    });
  }

  /** When the first of the calls that wait now was put before approvers; null where none waits. */
  waitsSince(): number | null {
    const open = [...this.approvals.values()].filter(({ approval_id: id }) => !this.outcomes.has(id));
    return open.length === 0 ? null : Math.min(...open.map(({ requested_at: at }) => at));
  }

  private agentOf(agent: AgentCall): AgentItem {
    const found = this.agents.get(agent.run_id) ?? { agent, timeline: new RunTimeline(agent.run_id) };
    this.agents.set(agent.run_id, found);
    this.agentsByCall.set(`${agent.caller_run_id} ${agent.call_id}`, agent.run_id);
    return found;
  }

  private begin(number: number): IterationItem {
    this.iteration = Math.max(this.iteration, number);
    const found = this.iterations.get(number);
    if (found !== undefined) return found;
    const item: IterationItem = {
      ...{ number, state: null, tools: [], texts: [], calls: [], retries: [], decision: null, usage: null },
    };
    this.iterations.set(number, item);
    return item;
  }

  /** What is heard of a call before the call itself belongs to the latest iteration, until the call says otherwise. */
  private callOf(id: string, iteration?: number): CallItem {
    const known = this.calls.get(id);
    if (known !== undefined) {
      if (iteration !== undefined && known.iteration !== iteration) this.move(known, iteration);
      return known;
    }
    const to = iteration ?? this.iteration;
    const call: CallItem = {
      ...{ id, iteration: to, tool: '', arguments: '', heardAt: null, progress: null, result: null },
    };
    this.calls.set(id, call);
    this.begin(to).calls.push(call);
    return call;
  }

  private move(call: CallItem, iteration: number): void {
    const from = this.begin(call.iteration).calls;
    from.splice(from.indexOf(call), 1);
    call.iteration = iteration;
    this.begin(iteration).calls.push(call);
  }
}
