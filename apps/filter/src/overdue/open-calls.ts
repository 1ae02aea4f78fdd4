import { senderHeader, credentialOf } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { redriveHeader, requestIds } from '@sluice/contracts';
import { localPrincipal, runName } from '@sluice/core';
import type { Tenant } from '@sluice/core';
import { runOfEnd, senderName } from '@sluice/run';

/** A request that makes one call itself, and has no end that was seen. */
export interface OpenCall {
  readonly requestId: string;
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
  /** The dead letter that it was re-driven from, as its header says. */
  readonly attempt: string | null;
  /** Whose it is by its header, which proves nothing: `none` without a credential, null where nothing says so. */
  readonly sender: string | null;
}

/** Whose a call is, once its credential was verified. */
interface KnownCall {
  readonly tenant: Tenant;
  /** Which run it is: that of its tenant by this request_id. */
  readonly name: string;
  /** When the run must have ended, milliseconds since the epoch. */
  readonly deadline: number;
}

interface Kept {
  readonly call: OpenCall;
  known: KnownCall | null;
}

/** Requests that are kept under one id: anybody who may write can put forged ones beside the honest one. */
const mostUnderOneId = 8;

/**
 * Calls whose end was not seen, by the requests and the ends on the log, and never a record. Nearly all of them end
 * within moments, so whose one is is asked about those alone that last.
 */
export class OpenCalls {
  private readonly calls = new Map<string, readonly Kept[]>();

  constructor(private readonly most: number) {}

  /** False if there is no room for one more. */
  add(message: Incoming<'agent.calls'>): boolean {
    const { record, key, partition, offset, timestamp, headers } = message;
    const { requestId } = requestIds(message, record);
    const kept = this.calls.get(requestId) ?? [];
    if (kept.some(({ call }) => call.partition === partition && call.offset === offset)) return true;
    if (kept.length === 0 && this.calls.size >= this.most) return false;
    const attempt = headers[redriveHeader] ?? null;
    const sender = headers[senderHeader] ?? (credentialOf(headers) === undefined ? 'none' : null);
    const call = { requestId, key, partition, offset, timestamp, attempt, sender };
    if (kept.length < mostUnderOneId) this.calls.set(requestId, [...kept, { call, known: null }]);
    return true;
  }

  /** A run has ended: its call is over. Where it is not known whose a call is, the ledger says so later. */
  end({ record }: Incoming<'agent.responses'>): void {
    const kept = this.calls.get(record.requestId);
    if (kept === undefined) return;
    const { tenant } = runOfEnd(record);
    const attempt = record.run?.redrive ?? null;
    const principal = record.run?.principal ?? null;
    const sender = principal === null ? null : tenant === localPrincipal.tenantId ? 'none' : senderName(principal);
    this.keep(
      record.requestId,
      kept.filter(({ call, known }) => {
        if (call.attempt !== attempt) return true;
        return known === null ? call.sender === null || call.sender !== sender : known.tenant !== tenant;
      }),
    );
  }

  /** Those whose caller is not known, and that the log took before this time. */
  unknown(before: number): readonly OpenCall[] {
    return this.found(({ call, known }) => known === null && call.timestamp <= before);
  }

  /** Those whose time was up by then. */
  overdue(now: number): readonly OpenCall[] {
    return this.found(({ known }) => known !== null && known.deadline <= now);
  }

  know(call: OpenCall, known: Omit<KnownCall, 'name'>): void {
    const kept = this.calls.get(call.requestId)?.find((one) => one.call === call);
    if (kept !== undefined) kept.known = { ...known, name: runName(call.requestId, known.tenant) };
  }

  /** It is no run of a known caller, or its run has ended or goes on with a record of its own. */
  drop(call: OpenCall): void {
    const kept = this.calls.get(call.requestId) ?? [];
    this.keep(
      call.requestId,
      kept.filter((one) => one.call !== call),
    );
  }

  /** When the log took the oldest one; Infinity if none is kept. */
  oldest(): number {
    let oldest = Infinity;
    for (const kept of this.calls.values()) for (const { call } of kept) oldest = Math.min(oldest, call.timestamp);
    return oldest;
  }

  /** The runs that are known to be open, by their names, with their tenants. */
  tenants(): ReadonlyMap<string, string> {
    const tenants = new Map<string, string>();
    for (const kept of this.calls.values())
      for (const { known } of kept) if (known !== null && known.tenant !== null) tenants.set(known.name, known.tenant);
    return tenants;
  }

  private found(is: (kept: Kept) => boolean): readonly OpenCall[] {
    const found: OpenCall[] = [];
    for (const kept of this.calls.values()) for (const one of kept) if (is(one)) found.push(one.call);
    return found;
  }

  private keep(requestId: string, kept: readonly Kept[]): void {
    if (kept.length === 0) this.calls.delete(requestId);
    else this.calls.set(requestId, kept);
  }
}
