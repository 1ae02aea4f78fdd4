import type { Callers } from './named-agent.js';

/** What a run that is due does while the one before it has not ended. */
export const overlaps = ['skip', 'queue', 'cancel'] as const;
type Overlap = (typeof overlaps)[number];

/** Which of the due times are made up for that passed while no filter ran. */
export const catchUps = ['none', 'last', 'all'] as const;
type CatchUp = (typeof catchUps)[number];

/** What a run asks that no caller asks for, and as whom. */
export interface OwnRequest {
  /** Names it; the name stands in request_ids and metrics. */
  readonly name: string;
  /** `service:<name>`; without an identity in the configuration it is the local principal. */
  readonly principal: string;
  readonly tenant: string;
  readonly question: string;
  /** What it asks for, and all that its principal may ask for; absent for `default`. */
  readonly groups?: readonly string[];
  /** The connections that its tools may use; absent for none. */
  readonly connections?: readonly string[];
  readonly agent?: string;
  readonly state?: string;
}

/** Requests that are made at certain times. */
export interface ScheduleSettings extends OwnRequest {
  readonly cron: string;
  /** An IANA name. */
  readonly timeZone: string;
  /** How much later than its due time a run begins at most, milliseconds. */
  readonly jitterMs: number;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  /** Due times from then on, milliseconds since the epoch; absent for all. */
  readonly from?: number;
  /** Due times before then, milliseconds since the epoch; absent for all. */
  readonly until?: number;
  /** Who may pause and run it beside operators; absent for no one. */
  readonly mayControl?: Callers;
}
