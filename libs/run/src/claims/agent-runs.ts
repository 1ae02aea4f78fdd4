import { claimMemoryMs } from '@sluice/core';
import type { Claim } from '@sluice/core';
import { recordNames, topics } from '@sluice/contracts';
import type { AgentResponse, FanOut } from '@sluice/contracts';
import { claimOnce } from './once.js';
import type { OnceClaim } from './once.js';
import { claimedName, requestKey, runOfEnd } from './run-names.js';
import type { NamedRun } from './run-names.js';
import type { RunParts } from '../parts.js';
import { digestOfRecord } from './vouched.js';

/** Where the call stands that an agent’s run answers: its ToolCall on agent.tool-calls, and its place in the turn. */
export interface CallPosition {
  readonly partition: number;
  readonly offset: number;
  readonly index: number;
}

/**
 * Calls of a turn that run side by side: the run that makes them, where the turn stands, and which of its calls they
 * are.
 */
export interface JoinedFanOut extends Pick<CallPosition, 'partition' | 'offset'>, FanOut {
  readonly run: NamedRun;
}

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;

/**
 * What must be decided once for each sub-agent’s run, as claims in the ledger; a forger of records on the log cannot
 * write these.
 */
export class AgentRunClaims {
  constructor(private readonly runtime: Claiming) {}

  /** Claims the run’s request_id for the call; false if a run has it already. The same call may ask again. */
  async take(run: NamedRun, callKey: string): Promise<boolean> {
    const owner = ownerOf(callKey);
    return (await this.claim(requestKey(await this.nameOf(run)), owner)).owner === owner;
  }

  /** Keeps where the call waits, beside the claim that was taken for it. */
  async park(run: NamedRun, callKey: string, { partition, offset, index }: CallPosition): Promise<void> {
    const value = JSON.stringify({ partition, offset, index });
    await this.runtime.ledger.settle(requestKey(await this.nameOf(run)), ownerOf(callKey), value);
  }

  /** Where the call waits that the run answers; null if it answers none. */
  async parkedAt(run: NamedRun): Promise<CallPosition | null> {
    const claim = await this.find(requestKey(await this.nameOf(run)));
    return claim?.owner.startsWith(callOwner) && claim.value !== null
      ? (JSON.parse(claim.value) as CallPosition)
      : null;
  }

  /** Says that filter, agent or executor ended the run exactly so: an end that is only on the log is forged. */
  async vouch(end: AgentResponse): Promise<void> {
    await this.claim(await this.endKey(end), end.sessionId);
  }

  async isVouched(end: AgentResponse): Promise<boolean> {
    return (await this.find(await this.endKey(end))) !== undefined;
  }

  /** Whether the waiting turn goes on with this end, which is the first. */
  async goesOn(run: NamedRun, owner: string): Promise<OnceClaim> {
    return claimOnce(`resumed/${await this.nameOf(run)}`, owner, this.runtime);
  }

  /** Says with which record on agent.responses, by its place, the member of a fan-out ended. */
  async memberEnded(fan: JoinedFanOut, index: number, place: string): Promise<void> {
    await this.claim(await this.memberKey(fan, index), place);
  }

  /** Where the members’ ends stand, in their order; null if one has not ended. */
  async allEnded(fan: JoinedFanOut): Promise<readonly string[] | null> {
    const places = await this.endsOf(fan);
    return places.some((place) => place === null) ? null : (places as readonly string[]);
  }

  /** Where the end of each member stands, in their order; null for one that has not ended. */
  async endsOf(fan: JoinedFanOut): Promise<readonly (string | null)[]> {
    const indexes = Array.from({ length: fan.size }, (_, n) => fan.first + n);
    return Promise.all(
      indexes.map(async (index) => (await this.find(await this.memberKey(fan, index)))?.owner ?? null),
    );
  }

  /** True for the one end with which the turn goes on that waits for all; the same record may ask again. */
  async joins(fan: JoinedFanOut, owner: string): Promise<boolean> {
    return (await this.claim(`${await this.fanKey(fan)}/joined`, owner)).owner === owner;
  }

  private async memberKey(fan: JoinedFanOut, index: number): Promise<string> {
    return `${await this.fanKey(fan)}/${index}`;
  }

  private async fanKey({ run, partition, offset, first }: JoinedFanOut): Promise<string> {
    return `fan-out/${await this.nameOf(run)}/${partition}/${offset}/${first}`;
  }

  private nameOf(run: NamedRun): Promise<string> {
    return claimedName(run, this.runtime);
  }

  /**
   * Of what it says, without its signature: an instance of the version before does not read that, and must find the
   * same.
   */
  private async endKey(end: AgentResponse): Promise<string> {
    const digest = digestOfRecord(recordNames[topics.responses], { ...end, recordSignature: null });
    return `ended/${await this.nameOf(runOfEnd(end))}/${digest}`;
  }

  /** What has expired is forgotten, swept or not. */
  private async find(key: string): Promise<Claim | undefined> {
    const claim = await this.runtime.ledger.find(key);
    return claim !== undefined && claim.expiresAt > this.runtime.clock.now() ? claim : undefined;
  }

  private claim(key: string, owner: string) {
    return this.runtime.ledger.claim({ key, owner, now: this.runtime.clock.now(), ttlMs: claimMemoryMs });
  }
}

/** What no place on the log begins with, so that no request can own the claim of a call. */
const callOwner = 'call/';

function ownerOf(callKey: string): string {
  return callOwner + callKey;
}
