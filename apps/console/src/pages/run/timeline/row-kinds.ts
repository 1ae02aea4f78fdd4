import type { ApprovalItem, CallItem, IterationItem } from './model.js';
import type { Plan } from './plan.js';

/** How a call is, in the words that the page has for it. */
export type CallStatus = 'waiting' | 'approval' | 'running' | 'ok' | 'failed';

interface Placed {
  /** Names the row within the page, the same whatever comes later. */
  readonly key: string;
  /** How deep the run is that it belongs to: 0 for this one, 1 for an agent that it calls. */
  readonly depth: number;
}

export type Row = Placed &
  (
    | {
        readonly kind: 'iteration';
        readonly iteration: IterationItem;
        /** The tool that the run is a call of, where it is an agent’s. */
        readonly agent: string | null;
        readonly span: OpenSpan | null;
        readonly calls: number;
        readonly failed: number;
        readonly isOpen: boolean;
      }
    | { readonly kind: 'decision'; readonly iteration: IterationItem }
    | { readonly kind: 'plan'; readonly plan: Plan }
    | { readonly kind: 'text'; readonly text: string; readonly isAnswer: boolean }
    | { readonly kind: 'retry'; readonly retry: IterationItem['retries'][number] }
    | {
        readonly kind: 'call';
        readonly call: CallItem;
        /** Names the call within the page: its id, with its run where that is an agent’s. */
        readonly name: string;
        /** The key of the tool where it is known, else the id that the model wrote. */
        readonly tool: string;
        readonly status: CallStatus;
        readonly span: OpenSpan | null;
        /** The run of the agent that the call is. */
        readonly agentRun: string | null;
      }
    | { readonly kind: 'approval'; readonly item: ApprovalItem }
    | { readonly kind: 'idle'; readonly ms: number; readonly isForApproval: boolean }
    | { readonly kind: 'end'; readonly code: string | null; readonly message: string }
  );

/** From when on, and until when; null while it goes on. */
export interface OpenSpan {
  readonly from: number;
  readonly to: number | null;
}

/** A row of a call. */
export type CallRow = Extract<Row, { kind: 'call' }>;
