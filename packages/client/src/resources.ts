import type {
  AgentRequest,
  ApprovalDecision,
  ApprovalList,
  AskedApproval,
  AuditEntry,
  AuditList,
  DeadLetter,
  DeadLetterList,
  Group,
  GroupList,
  ListAuditQuery,
  ListDeadLettersQuery,
  ListedDeadLetter,
  ListSessionsQuery,
  ListStepsQuery,
  ListToolsQuery,
  PublishedDecision,
  RecommendationList,
  Redriven,
  Session,
  SessionList,
  StateList,
  StepList,
  ToolList,
  TriedToolset,
  WaitingApproval,
} from './generated/api.js';
import { ConnectionError, ProblemError } from './errors.js';
import { Pages } from './pages.js';
import { dataOf } from './sse.js';
import { messageOf } from './transport.js';
import type { CallOptions, Transport } from './transport.js';

export class Sessions {
  constructor(private readonly transport: Transport) {}

  /** One’s own sessions, the latest first. */
  list(query: Omit<ListSessionsQuery, 'before'> = {}, options: CallOptions = {}): Pages<Session> {
    return new Pages(async (before) => {
      const sent = { path: '/v1/sessions', query: { ...query, before }, isRepeatable: true, ...options };
      const { sessions, next_before: next } = await this.transport.json<SessionList>(sent);
      return { items: sessions, next };
    });
  }

  /** The steps of one’s runs in a session. */
  steps(sessionId: string, query: ListStepsQuery = {}, options: CallOptions = {}): Promise<StepList> {
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}/steps`;
    return this.transport.json({ path, query, isRepeatable: true, ...options });
  }
}

/** What the stream of approvals tells. */
type ApprovalEvent =
  ({ readonly type: 'waiting' } & WaitingApproval) | { readonly type: 'closed'; readonly approval_id: string };

interface ApprovalChunk {
  readonly type: string;
  readonly data: readonly ApprovalEvent[];
}

export class Approvals {
  constructor(private readonly transport: Transport) {}

  /** The calls that wait for one’s decision, the oldest first. */
  list(query: { readonly limit?: number } = {}, options: CallOptions = {}): Pages<WaitingApproval> {
    return new Pages(async (cursor) => {
      const sent = { path: '/v1/approvals', query: { ...query, cursor }, isRepeatable: true, ...options };
      const { approvals, next_cursor: next } = await this.transport.json<ApprovalList>(sent);
      return { items: approvals, next };
    });
  }

  /** The calls that wait now, then those that come, each once, until the signal. A connection that is cut is opened again. */
  async *stream(options: CallOptions = {}): AsyncGenerator<WaitingApproval, void, undefined> {
    const leaving = new AbortController();
    const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
    const sent = { path: '/v1/approvals', headers: { accept: 'text/event-stream' }, isRepeatable: true, signal };
    const told = new Set<string>();
    try {
      for (let attempt = 1; ; attempt++) {
        let problem: unknown = new Error('The stream ended.');
        try {
          const { body } = await this.transport.open(sent);
          if (body === null) throw new Error('The answer has no body.');
          for await (const { type, data } of dataOf<ApprovalChunk>(body, this.transport.idleMs)) {
            if (type !== 'data') continue;
            for (const event of data) {
              // A cut is tried again so often until something comes.
              attempt = 0;
              if (event.type === 'closed') told.delete(event.approval_id);
              if (event.type !== 'waiting' || told.has(event.approval.approval_id)) continue;
              told.add(event.approval.approval_id);
              yield { approval: event.approval, decisions: event.decisions };
            }
          }
        } catch (error) {
          problem = error;
        }
        const cut = problem instanceof ProblemError ? problem : new ConnectionError(messageOf(problem), null, { cause: problem }); // prettier-ignore
        await this.transport.pause(Math.max(1, attempt), cut, sent);
      }
    } finally {
      leaving.abort();
    }
  }

  /** Decides on a call of the list or of a run’s stream. `approval_outcome` on the run’s stream says whether the decision counts. */
  decide(
    { approval_id, request_id, session_id, arguments_hash, requested_partition, requested_offset }: AskedApproval,
    decision: 'approve' | 'refuse',
    options: CallOptions & { readonly reason?: string; readonly decidedBy?: string } = {},
  ): Promise<PublishedDecision> {
    const { reason, decidedBy, ...rest } = options;
    const body: ApprovalDecision = {
      ...{ approval_id, request_id, session_id, decision, arguments_hash, requested_partition, requested_offset },
      ...(reason === undefined ? {} : { reason }),
      ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
    };
    // The first decision counts, so the same one again changes nothing.
    return this.transport.json({ method: 'POST', path: '/v1/approvals', body, isRepeatable: true, ...rest });
  }
}

export class Groups {
  constructor(private readonly transport: Transport) {}

  /** The groups that one may ask for. */
  list(options: CallOptions = {}): Promise<GroupList> {
    return this.transport.json({ path: '/v1/groups', isRepeatable: true, ...options });
  }

  get(name: string, options: CallOptions = {}): Promise<Group> {
    const path = `/v1/groups/${name.split('/').map(encodeURIComponent).join('/')}`;
    return this.transport.json({ path, isRepeatable: true, ...options });
  }

  /** Which of these suit a question, best first. */
  recommend(question: string, options: CallOptions = {}): Promise<RecommendationList> {
    return this.transport.json({ path: '/v1/groups/recommended', query: { question }, isRepeatable: true, ...options });
  }
}

export class States {
  constructor(private readonly transport: Transport) {}

  list(options: CallOptions = {}): Promise<StateList> {
    return this.transport.json({ path: '/v1/states', isRepeatable: true, ...options });
  }

  /** As a Mermaid diagram. */
  diagram(options: CallOptions = {}): Promise<string> {
    return this.transport.text({
      ...{ path: '/v1/states', headers: { accept: 'text/vnd.mermaid' }, isRepeatable: true, ...options },
    });
  }
}

export class Tools {
  constructor(private readonly transport: Transport) {}

  /** What a run in this state with these groups is offered. */
  list(query: ListToolsQuery = {}, options: CallOptions = {}): Promise<ToolList> {
    return this.transport.json({ path: '/v1/tools', query, isRepeatable: true, ...options });
  }

  /** What this request would be offered. Nothing is published, and no run begins. */
  tryToolset(body: AgentRequest, options: CallOptions = {}): Promise<TriedToolset> {
    return this.transport.json({ method: 'POST', path: '/v1/toolsets', body, isRepeatable: true, ...options });
  }
}

export class Audit {
  constructor(private readonly transport: Transport) {}

  /** The audit of one’s tenant, the newest first. */
  list(query: Omit<ListAuditQuery, 'cursor' | 'format'> = {}, options: CallOptions = {}): Pages<AuditEntry> {
    return new Pages(async (cursor) => {
      const sent = { path: '/v1/audit', query: { ...query, cursor }, isRepeatable: true, ...options };
      const { entries, next_cursor: next } = await this.transport.json<AuditList>(sent);
      return { items: entries, next };
    });
  }

  /** A page of it as CSV. */
  csv(query: Omit<ListAuditQuery, 'format'> = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({
      ...{ path: '/v1/audit', query: { ...query, format: 'csv' }, headers: { accept: 'text/csv' } },
      ...{ isRepeatable: true, ...options },
    });
  }
}

/** For operators: what could not be processed. */
export class DeadLetters {
  constructor(private readonly transport: Transport) {}

  list(query: Omit<ListDeadLettersQuery, 'cursor'> = {}, options: CallOptions = {}): Pages<ListedDeadLetter> {
    return new Pages(async (cursor) => {
      const sent = { path: '/v1/dead-letters', query: { ...query, cursor }, isRepeatable: true, ...options };
      const { dead_letters: items, next_cursor: next } = await this.transport.json<DeadLetterList>(sent);
      return { items, next };
    });
  }

  /** With what it holds, and what a redrive would do. */
  get(id: string, options: CallOptions = {}): Promise<DeadLetter> {
    return this.transport.json({ path: `/v1/dead-letters/${encodeURIComponent(id)}`, isRepeatable: true, ...options });
  }

  /** Puts the record on the log again, once. Throws ConflictError where that cannot be done or was done before. */
  redrive(id: string, options: CallOptions = {}): Promise<Redriven> {
    const path = `/v1/dead-letters/${encodeURIComponent(id)}/redrive`;
    return this.transport.json({ method: 'POST', path, isRepeatable: false, ...options });
  }
}
