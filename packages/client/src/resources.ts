import type {
  ApprovalDecision,
  AskedApproval,
  AuditFinding,
  AuditVerification,
  ExportLogQuery,
  Group,
  DifferingDecision,
  ListAuditQuery,
  PublishedDecision,
  WaitingApproval,
  WhatIf,
  WhatIfRequest,
} from './generated/api.js';
import {
  ApprovalsCalls,
  AuditCalls,
  Configurations as ConfigurationsCalls,
  GroupsCalls,
  StatesCalls,
} from './generated/calls.js';
import { ConnectionError, ProblemError, SluiceError } from './errors.js';
import { dataOf } from './sse.js';
import { messageOf } from './transport.js';
import type { CallOptions } from './transport.js';

/** What the stream of approvals tells. */
type ApprovalEvent =
  | ({ readonly type: 'waiting' | 'changed' } & WaitingApproval)
  | { readonly type: 'closed'; readonly approval_id: string };

/** What the stream of a what-if tells: how far it is, each decision that would be another, and how it ended. */
export type WhatIfEvent =
  | { readonly type: 'progress'; readonly considered: number; readonly altered: number }
  | ({ readonly type: 'decision' } & DifferingDecision)
  | ({ readonly type: 'summary' } & Omit<WhatIf, 'decisions'>);

interface DataChunk<Event> {
  readonly type: string;
  readonly data: readonly Event[];
}

/** What a verification of the audit reports: how far it is, what it finds, and at last whether all is sound. */
export type VerificationEvent =
  | {
      readonly type: 'progress';
      /** Records of all topics that were read, and entries of the audit among them. */
      readonly records: number;
      readonly entries: number;
      /** When the log took the latest of them, milliseconds since the epoch; null before the first. */
      readonly at: number | null;
    }
  | ({ readonly type: 'finding' } & AuditFinding)
  | ({ readonly type: 'end' } & Omit<AuditVerification, 'findings'>);

interface VerificationChunk {
  readonly type: string;
  readonly data: readonly (VerificationEvent | { readonly type: 'failed'; readonly message: string })[];
}

export class Approvals extends ApprovalsCalls {
  /**
   * The calls that wait now, then those that come, each once, until the signal. A connection that is cut is opened
   * again.
   */
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
          for await (const { type, data } of dataOf<DataChunk<ApprovalEvent>>(body, this.transport.idleMs)) {
            if (type !== 'data') continue;
            for (const event of data) {
              // A cut is tried again so often until something comes.
              attempt = 0;
              if (event.type === 'closed') told.delete(event.approval_id);
              if (event.type !== 'waiting' || told.has(event.approval.approval_id)) continue;
              told.add(event.approval.approval_id);
              const { type: _, ...waiting } = event;
              yield waiting;
            }
          }
        } catch (error) {
          problem = error;
        }
        const cut =
          problem instanceof ProblemError ? problem : new ConnectionError(messageOf(problem), null, { cause: problem });
        await this.transport.pause(Math.max(1, attempt), cut, sent);
      }
    } finally {
      leaving.abort();
    }
  }

  /**
   * Decides on a call of the list or of a run’s stream, and waits `waitSeconds` until that is taken. Throws
   * DecisionNotTakenError where it cannot count.
   */
  decide(
    { approval_id, request_id, session_id, arguments_hash, requested_partition, requested_offset }: AskedApproval,
    decision: 'approve' | 'refuse',
    options: CallOptions & {
      readonly reason?: string;
      /** What the call is made with in place of its own arguments; secrets that are left out are kept. */
      readonly arguments?: Readonly<Record<string, unknown>>;
      readonly decidedBy?: string;
      /** The person for whom a service decides. */
      readonly decidedFor?: string;
      readonly waitSeconds?: number;
    } = {},
  ): Promise<PublishedDecision> {
    const { reason, decidedBy, decidedFor, arguments: args, ...rest } = options;
    const body: ApprovalDecision = {
      ...{ approval_id, request_id, session_id, decision, arguments_hash, requested_partition, requested_offset },
      ...(reason === undefined ? {} : { reason }),
      ...(args === undefined ? {} : { arguments: args }),
      ...(decidedBy === undefined ? {} : { decided_by: decidedBy }),
      ...(decidedFor === undefined ? {} : { decided_for: decidedFor }),
    };
    // The first decision counts, so the same one again changes nothing.
    return this.transport.json({ method: 'POST', path: '/v1/approvals', body, isRepeatable: true, ...rest });
  }
}

export class Configurations extends ConfigurationsCalls {
  /**
   * What `whatIf` finds, as it is found; the summary is the last event. Leaving the loop ends it at the gateway.
   * Without a summary the gateway was stopped meanwhile.
   */
  async *whatIfStream(body: WhatIfRequest, options: CallOptions = {}): AsyncGenerator<WhatIfEvent, void, undefined> {
    const leaving = new AbortController();
    const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
    const headers = { accept: 'text/event-stream' };
    try {
      const sent = { method: 'POST', path: '/v1/what-if', body, headers, isRepeatable: true, signal } as const;
      const response = await this.transport.open(sent);
      if (response.body === null) throw new ConnectionError('The answer has no body.', null);
      for await (const { type, data } of dataOf<DataChunk<WhatIfEvent>>(response.body, this.transport.idleMs))
        if (type === 'data') yield* data;
    } finally {
      leaving.abort();
    }
  }
}

export class Groups extends GroupsCalls {
  get(name: string, options: CallOptions = {}): Promise<Group> {
    const path = `/v1/groups/${name.split('/').map(encodeURIComponent).join('/')}`;
    return this.transport.json({ path, isRepeatable: true, ...options });
  }
}

export class States extends StatesCalls {
  /** As a Mermaid diagram. */
  diagram(options: CallOptions = {}): Promise<string> {
    return this.transport.text({
      ...{ path: '/v1/states', headers: { accept: 'text/vnd.mermaid' }, isRepeatable: true, ...options },
    });
  }
}

export class Audit extends AuditCalls {
  /** A page of it as CSV. */
  csv(query: Omit<ListAuditQuery, 'format'> = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({
      ...{ path: '/v1/audit', query: { ...query, format: 'csv' }, headers: { accept: 'text/csv' } },
      ...{ isRepeatable: true, ...options },
    });
  }

  /**
   * Verifies the audit and reports how far that is, until its `end`. It takes as long as the log is, so a connection
   * that is cut is an error: what was read by then proves nothing.
   */
  async *verification(options: CallOptions = {}): AsyncGenerator<VerificationEvent, void, undefined> {
    const leaving = new AbortController();
    const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([options.signal, leaving.signal]);
    const headers = { accept: 'text/event-stream' };
    try {
      const sent = { method: 'POST', path: '/v1/audit/verify', headers, isRepeatable: true, signal } as const;
      const { body } = await this.transport.open(sent);
      if (body === null) throw new ConnectionError('The answer has no body.', null);
      for await (const { type, data } of dataOf<VerificationChunk>(body, this.transport.idleMs)) {
        if (type !== 'data') continue;
        for (const event of data) {
          if (event.type === 'failed') throw new SluiceError(event.message);
          yield event;
          if (event.type === 'end') return;
        }
      }
      throw new ConnectionError('The verification was cut before its end.', null);
    } finally {
      leaving.abort();
    }
  }

  /** The records of a span as a file for `sluice replay` and `sluice audit verify --export`, to be read as it comes. */
  async export(query: ExportLogQuery = {}, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'application/zstd' };
    const sent = { path: '/v1/audit/export', query, headers, isRepeatable: true, ...options };
    const { body } = await this.transport.open(sent);
    if (body === null) throw new ConnectionError('The answer has no body.', null);
    return body;
  }
}
