import type { HandlerContext, Outgoing } from '@sluice/bus';
import { idsOf, staysAbout, withLogContext } from '../log-context.js';
import type { Hop, Traces } from './traces.js';

/** Handles a record: its trace goes on, and every line that is written meanwhile says whose record it is. */
export function inHop(
  traces: Traces,
  hop: Hop,
  handle: (context: HandlerContext) => Promise<readonly Outgoing[]>,
): Promise<readonly Outgoing[]> {
  const ids = idsOf(hop.message);
  return traces.hop(hop, (traceId) =>
    withLogContext(traceId === undefined ? ids : { ...ids, trace_id: traceId }, () => handle(staysAbout(hop.context))),
  );
}
