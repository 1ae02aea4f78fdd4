import type { LoadWatch, Runtime } from '@sluice/host';
import type { Asking } from '@sluice/mcp';
import { pastOfCaller } from '@sluice/run';
import type { Caller } from './callers.js';
import { sessionOfCalls } from './session-of-calls.js';
import type { SessionStates } from './session-states.js';

/** Who asks, or is to hear of something. */
export type Hearer = Pick<Caller, 'principal' | 'claims'>;

/** What a list for a caller goes by. */
export interface AskingParts {
  readonly runtime: Runtime;
  readonly states: SessionStates;
  /** Measures what rules on load go by. */
  readonly loads: LoadWatch;
}

/** What a list for the caller goes by in this session. */
export async function askingOf(
  { principal, claims }: Hearer,
  session: string | null,
  { runtime, states, loads }: AskingParts,
): Promise<Asking> {
  const loaded = runtime.configurations.current();
  const now = runtime.clock.now();
  const ofCalls = session === null ? null : sessionOfCalls(session);
  const [state, measured, facts] = await Promise.all([
    states.stateOf(session, principal),
    loads.measured(loaded),
    pastOfCaller(principal, ofCalls, loaded.evaluator, now, runtime.past),
  ]);
  return { caller: principal, claims, state, measured: { ...measured, facts }, now };
}
