import type { StepContent } from '@sluice/core';
import { requestIds, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** Content as a record of its run names it. */
export interface NamedContent extends StepContent {
  /** The iteration whose step names it; null where the question does. */
  readonly iteration: number | null;
  /** The key of the tool that gave it; null where the question names it. */
  readonly tool: string | null;
}

/**
 * What the record names of the run’s content: its question, which stands in each turn too, and its steps. The run of an
 * agent has no request.
 */
export function contentNamedBy(message: Incoming, requestId: string): readonly NamedContent[] {
  switch (message.topic) {
    case topics.requests:
    case topics.calls: {
      if (requestIds(message, message.record).requestId !== requestId) return [];
      return (message.record.content ?? []).map((name) => ({ ...name, iteration: null, tool: null }));
    }
    case topics.toolsets: {
      if (message.record.requestId !== requestId) return [];
      return (message.record.request.content ?? []).map((name) => ({ ...name, iteration: null, tool: null }));
    }
    case topics.steps: {
      if (message.record.requestId !== requestId) return [];
      return message.record.steps.flatMap(({ action, iteration, content }) =>
        content.map((name) => ({ ...name, iteration, tool: action })),
      );
    }
    default:
      return [];
  }
}
