import type { ApprovalEscalation, ApprovalOutcome, RunEvent, RunPlace, Usage } from './events.js';
import type { AskedApproval, IncompleteAnswer } from './generated/api.js';
import { IterationText } from './iteration-text.js';
import type { Chunk } from './sse.js';

type Open =
  | { readonly kind: 'text' | 'reasoning' }
  | { readonly kind: 'tool-call'; readonly toolCallId: string; readonly tool: string; args: string }
  | { readonly kind: 'other' };

/** Codes with which a stream ends while the run goes on, so that it is read again. */
const cuts: readonly string[] = ['slow', 'stopping', 'interrupted'];

/**
 * Makes events of the chunks of a stream, over any number of connections: what came before a cut is not reported
 * again.
 */
export class RunReader {
  place: RunPlace | null = null;
  /** The stream ended before the run did, though the connection held. */
  wasCut = false;
  ended = false;
  private readonly seen = new Set<string>();
  private readonly texts = new Map<number, IterationText>();
  private iteration = 0;
  private error: { readonly code: string; readonly message: string } | null = null;
  private incomplete: IncompleteAnswer | null = null;
  private structured: string | null = null;
  /** Of the agents’ runs, by their ids. */
  private readonly agents = new Map<string, RunReader>();
  /** The parts of this connection, in order. */
  private open: Open[] = [];

  /** The next connection begins. */
  connected(): void {
    this.open = [];
    this.iteration = 0;
    this.error = null;
    this.incomplete = null;
    this.structured = null;
    this.wasCut = false;
    for (const text of this.texts.values()) text.connected();
    for (const agent of this.agents.values()) agent.connected();
  }

  take(chunk: Chunk): readonly RunEvent[] {
    const { type, path } = chunk;
    const open = this.open[path[0] ?? -1];
    switch (type) {
      case 'part-start':
        return this.begin(chunk.part ?? { type: 'other' });
      case 'text-delta':
        return this.delta(open, chunk.textDelta ?? '');
      case 'tool-call-args-text-finish':
        return this.call(open);
      case 'result':
        return this.result(open, chunk);
      case 'step-start':
        this.iteration = Number(chunk.messageId?.split('/').at(-1) ?? 0);
        return [];
      case 'step-finish': {
        const iteration = this.iteration;
        return this.once(`end ${iteration}`, { type: 'iteration_end', iteration, usage: usageOf(chunk) });
      }
      case 'error':
        this.error = { code: chunk.code ?? 'error', message: chunk.error ?? '' };
        return [];
      case 'message-finish':
        return this.end(chunk);
      case 'data':
        return (chunk.data ?? []).flatMap((each) => this.agentEvents(each));
      default:
        return [];
    }
  }

  /** Chunks of an agent’s run come within those of the run that calls it. */
  private agentEvents({ type, agent, chunk }: NonNullable<Chunk['data']>[number]): readonly RunEvent[] {
    if (type !== 'agent' || agent === undefined || chunk === undefined) return [];
    const reader = this.agents.get(agent.run_id) ?? new RunReader();
    this.agents.set(agent.run_id, reader);
    const had = reader.ended;
    return reader
      .take(chunk)
      .filter((event) => event.type !== 'end' || !had)
      .map((event) => ({ type: 'agent', agent, event }));
  }

  private begin(part: NonNullable<Chunk['part']>): readonly RunEvent[] {
    switch (part.type) {
      case 'text':
        this.textOf().begin();
        this.open.push({ kind: 'text' });
        return [];
      case 'reasoning':
        this.open.push({ kind: 'reasoning' });
        return [];
      case 'tool-call':
        this.open.push({ kind: 'tool-call', toolCallId: part.toolCallId ?? '', tool: part.toolName ?? '', args: '' });
        return [];
      default:
        this.open.push({ kind: 'other' });
        return part.type === 'data' ? this.data(part.name ?? '', part.data) : [];
    }
  }

  private delta(open: Open | undefined, text: string): readonly RunEvent[] {
    const iteration = this.iteration;
    if (open?.kind === 'tool-call') open.args += text;
    if (open?.kind === 'reasoning') return [{ type: 'reasoning', iteration, text }];
    if (open?.kind !== 'text') return [];
    return this.textOf()
      .add(text)
      .map((piece) => ({ type: 'text', iteration, ...piece }));
  }

  private call(open: Open | undefined): readonly RunEvent[] {
    if (open?.kind !== 'tool-call') return [];
    const { toolCallId: id, tool, args } = open;
    const call = { iteration: this.iteration, tool_call_id: id, tool, arguments: args };
    return this.once(`call ${id}`, { type: 'tool_call', ...call });
  }

  private result(open: Open | undefined, { result, isError, isPreliminary, artifact }: Chunk): readonly RunEvent[] {
    if (open?.kind !== 'tool-call') return [];
    const id = open.toolCallId;
    const isEarly = isPreliminary === true;
    if (isEarly && this.seen.has(`result ${id}`)) return [];
    type Result = Extract<RunEvent, { type: 'tool_result' }>;
    return this.once(`${isEarly ? 'early' : 'result'} ${id}`, {
      ...{ type: 'tool_result', tool_call_id: id, result: result ?? null },
      ...{ is_error: isError === true, is_preliminary: isEarly, step: (artifact ?? null) as Result['step'] },
    });
  }

  private data(name: string, data: unknown): readonly RunEvent[] {
    const members = (data ?? {}) as Readonly<Record<string, unknown>>;
    switch (name) {
      case 'run':
        this.place = members as unknown as RunPlace;
        return this.once('run', { type: 'run', ...this.place });
      case 'iteration': {
        const { iteration, state, tools } = members as { iteration: number; state: string; tools: readonly string[] };
        return this.once(`iteration ${iteration}`, { type: 'iteration', iteration, state, tools });
      }
      case 'tool_call_start':
        return [{ type: 'tool_started', tool_call_id: String(members['toolCallId']) }];
      case 'tool_progress':
        return [
          {
            ...{ type: 'tool_progress', tool_call_id: String(members['toolCallId']) },
            text: String(members['text'] ?? ''),
            ...{ progress: numberIn(members, 'progress'), total: numberIn(members, 'total') },
          },
        ];
      case 'model_retry': {
        const { iteration, attempt, reason, retry_at } = members as Omit<
          Extract<RunEvent, { type: 'model_retry' }>,
          'type'
        >;
        return [{ type: 'model_retry', iteration, attempt, reason, retry_at }];
      }
      case 'incomplete':
        this.incomplete = data as IncompleteAnswer;
        return [];
      case 'structured':
        this.structured = typeof members['json'] === 'string' ? members['json'] : null;
        return [];
      case 'decision':
        return this.once(`decision ${String(members['iteration'])}`, { type: 'decision', decision: members });
      case 'approval_requested': {
        const approval = members as unknown as AskedApproval;
        return this.once(`asked ${approval.approval_id}`, { type: 'approval_requested', approval });
      }
      case 'approval_outcome': {
        const outcome = members as unknown as ApprovalOutcome;
        return this.once(`outcome ${JSON.stringify(outcome)}`, { type: 'approval_outcome', outcome });
      }
      case 'approval_escalated': {
        const escalation = members as unknown as ApprovalEscalation;
        return this.once(`escalated ${JSON.stringify(escalation)}`, { type: 'approval_escalated', escalation });
      }
      default:
        return this.once(`data ${name} ${JSON.stringify(data)}`, { type: 'data', name, data });
    }
  }

  private end(chunk: Chunk): readonly RunEvent[] {
    const error = this.error;
    if (error !== null && cuts.includes(error.code)) {
      this.wasCut = true;
      return [];
    }
    this.ended = true;
    const answer = error === null ? (this.texts.get(Math.max(0, ...this.texts.keys()))?.last ?? '') : null;
    const { incomplete, structured } = this;
    return [{ type: 'end', answer, structured, error, incomplete, usage: usageOf(chunk) }];
  }

  private textOf(): IterationText {
    const found = this.texts.get(this.iteration) ?? new IterationText();
    this.texts.set(this.iteration, found);
    return found;
  }

  private once(key: string, event: RunEvent): readonly RunEvent[] {
    if (this.seen.has(key)) return [];
    this.seen.add(key);
    return [event];
  }
}

function usageOf({ usage }: Chunk): Usage {
  return { input_tokens: usage?.inputTokens ?? 0, output_tokens: usage?.outputTokens ?? 0 };
}

function numberIn(members: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = members[name];
  return typeof value === 'number' ? value : null;
}
