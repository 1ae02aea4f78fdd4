import { getHeapStatistics } from 'node:v8';
import type { GivenContent, ModelRequest, ModelSettings } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';
import { textOf } from '@sluice/packs';
import { loadContent, planContent } from '@sluice/run';
import { ByteGate } from './byte-gate.js';

/** Bytes of content that one request can name, and that a process holds in any case. */
const mostOfRequest = 16_000_000;

/** A body with content is held some five times while it is written. */
const heapShare = 16;

/** What of a request’s content its model is given, as long as the model is asked. */
export class GivenContents {
  private readonly gate = new ByteGate(Math.max(mostOfRequest, getHeapStatistics().heap_size_limit / heapShare));

  constructor(private readonly runtime: Pick<Runtime, 'content' | 'log'>) {}

  /** Asks with the content that the request names; waits where the process holds as much as it may. */
  async with<T>(
    request: ModelRequest,
    settings: ModelSettings,
    { requestId, run: { principal } }: Pick<Toolset, 'requestId' | 'run'>,
    signal: AbortSignal,
    ask: (given: ReadonlyMap<string, GivenContent> | undefined) => Promise<T>,
  ): Promise<T> {
    const plan = planContent(request, settings);
    // The model of rules is given nothing.
    if (plan.size === 0 || settings.provider === 'rules' || principal === null) return ask(undefined);
    const { content: store, log } = this.runtime;
    const bytes = [...plan.values()].reduce((sum, one) => sum + (one.kind === 'note' ? 0 : one.content.size), 0);
    return this.gate.within(bytes, signal, async () => {
      const owner = { tenantId: principal.tenantId, runId: requestId };
      const given = await loadContent(plan, settings, {
        ...{ owner, store, textOf, signal },
        onFault: ({ hash }, error) =>
          log.error(
            { request_id: requestId, content: hash.slice(0, 12), error: error.message },
            'content of a run could not be read for its model, which is shown a line instead',
          ),
      });
      return ask(given);
    });
  }
}
