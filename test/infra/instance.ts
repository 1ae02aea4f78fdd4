import type { Address } from './address.ts';
import type { Fault } from './protocol.ts';

/** A part that runs because we started it: processes of this machine, or a container. */
export interface Instance {
  readonly address: Address;
  inflict(fault: Fault): Promise<void>;
  /** Ends it at once and removes its data; more than once is no harm. */
  remove(): Promise<void>;
}

/** What a source needs to start an instance. */
export interface Place {
  /** A folder of the instance's own, which exists and goes away with the run. */
  readonly folder: string;
  /** Aborted when the run ends: whatever is under way then must end soon. */
  readonly ending: AbortSignal;
  /** A sentence for the person who waits. */
  readonly say: (notice: string) => void;
  /** Hands over what must be removed at the end, before it is waited for. */
  readonly keep: (instance: Instance) => void;
}
