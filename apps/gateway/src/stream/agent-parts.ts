import type { RecordView } from '../record-view.js';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { Incoming } from '@sluice/bus';
import type { RunAccess } from '@sluice/host';
import { requestIdOf } from '@sluice/run';
import type { AgentCall, RunsWithin } from '@sluice/run';
import { RunParts } from './parts.js';

type Data = Extract<AssistantStreamChunk, { type: 'data' }>;
type Json = Data['data'][number];

interface AgentRun {
  readonly whose: RunAccess;
  readonly parts: RunParts;
}

/**
 * What the agents do that a run calls: the chunks that a stream of each agent’s run would have, within chunks of type
 * `data`. Those make no part of the message, so a reader who does not know them reads it as before.
 */
export class AgentParts {
  private readonly runs = new Map<string, AgentRun>();

  constructor(
    private readonly within: RunsWithin,
    private readonly accessTo: (runId: string) => RunAccess,
    private readonly view: RecordView,
  ) {}

  /** Null where the record is of no agent’s run. */
  async of(message: Incoming): Promise<readonly Data[] | null> {
    const call = this.within.of(requestIdOf(message), message)?.at(-1);
    if (call === undefined) return null;
    const run = this.runs.get(call.runId) ?? { whose: this.accessTo(call.runId), parts: RunParts.ofAgent(this.view) };
    this.runs.set(call.runId, run);
    // Another caller may have chosen the id for a run of its own.
    if (!(await run.whose.concerns(message)) || run.whose.of(message) !== 'tell') return [];
    const data = run.parts
      .of(message)
      .map((chunk) => ({ type: 'agent', agent: about(call), chunk }) as unknown as Json);
    return data.length === 0 ? [] : [{ type: 'data', path: [], data }];
  }
}

function about({ runId, name, callId, callerRunId }: AgentCall): Json {
  return { run_id: runId, name, call_id: callId, caller_run_id: callerRunId };
}
