import { claimMemoryMs, runName } from '@sluice/core';
import type { Signatures } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { NamedRun } from './claims/run-names.js';
import type { RunParts } from './parts.js';

/** A call of a tool of the client, as the client is shown it. */
export interface ClientCall {
  /** What the client names it by: a MAC of an executor over run, caller and call. */
  readonly id: string;
  /** Its place in the turn. */
  readonly index: number;
  /** The client’s own name of the tool. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** What a client says that one of its calls gave: its words. */
export interface ClientResult {
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The calls of one turn that wait for their client. */
export interface ClientWait {
  /** The id of the question for which the turn is parked. */
  readonly question: string;
  readonly requestId: string;
  readonly tenant: string;
  readonly actor: string;
  readonly subject: string | null;
  /** What the client had said before the run. */
  readonly said: string;
  readonly calls: readonly ClientCall[];
  /** Until when results count, milliseconds since the epoch. */
  readonly until: number;
  /** Null while there are none. */
  readonly results: readonly ClientResult[] | null;
}

type Keeping = Pick<RunParts, 'documents' | 'clock'>;

/** How results were received: as the first, as the same ones again, or too late or as others than came before. */
export type Received = 'first' | 'again' | 'others' | 'late';

const idForm = /^call_([\w-]{22})[\w-]{22}$/;

/** Whether a call’s id has the form of those that executors make here. */
export function isClientCallId(id: string): boolean {
  return idForm.test(id);
}

/**
 * Calls that wait for their client, and what it gave, in the ledger’s database: any gateway and any executor finds them
 * there. An executor writes the calls, a door the results; the first results count.
 */
export class ClientCalls {
  constructor(private readonly parts: Keeping) {}

  /** Keeps the arguments of a call that begins to wait, as its approver or the model gave them. */
  async keepArguments(callKey: string, args: string): Promise<void> {
    const key = `${prefix}arguments/${callKey}`;
    const found = await this.parts.documents.find(key);
    if (found === undefined) await this.parts.documents.put(key, 1, args, this.parts.clock.now() + claimMemoryMs);
  }

  async argumentsOf(callKey: string): Promise<string | null> {
    const found = await this.parts.documents.find(`${prefix}arguments/${callKey}`);
    return found === undefined || found.text === 'null' ? null : found.text;
  }

  /** Lets the client find the calls by their ids. An earlier attempt at the turn may have done so. */
  async wait(
    wait: Omit<ClientWait, 'calls' | 'results'>,
    calls: readonly Omit<ClientCall, 'id'>[],
    signatures: Pick<Signatures, 'keyedHash'>,
  ): Promise<void> {
    if ((await this.find(wait, wait.question)) !== null) return;
    const { question, requestId, tenant, actor, subject } = wait;
    const ofTurn = [tenant, actor, subject, requestId, question];
    const mac = macOf(ofTurn, signatures);
    const named = calls.map((call) => {
      return { ...call, id: `call_${mac}${macOf([...ofTurn, call.index, call.name, call.arguments], signatures)}` };
    });
    const expiresAt = wait.until + claimMemoryMs;
    const { documents } = this.parts;
    // First the name by which it is found: an attempt that ends between the two is repeated.
    await documents.put(`${prefix}id/${mac}`, 1, JSON.stringify([requestId, tenant, question]), expiresAt);
    await documents.put(keyOf(wait, question), 1, JSON.stringify({ ...wait, calls: named, results: null }), expiresAt);
  }

  /** The calls of the run that wait under this question; null where there are none. */
  async find({ requestId, tenant }: NamedRun, question: string): Promise<ClientWait | null> {
    const found = await this.parts.documents.find(keyOf({ requestId, tenant }, question));
    return found === undefined ? null : (JSON.parse(found.text) as ClientWait | null);
  }

  /** The calls that wait, or waited, with the one that the client names so; null where an executor made no such id. */
  async byId(id: string): Promise<ClientWait | null> {
    const mac = idForm.exec(id)?.[1];
    if (mac === undefined) return null;
    const pointer = await this.parts.documents.find(`${prefix}id/${mac}`);
    if (pointer === undefined || pointer.text === 'null') return null;
    const [requestId, tenant, question] = JSON.parse(pointer.text) as readonly [string, string, string];
    const wait = await this.find({ requestId, tenant }, question);
    return wait?.calls.some((call) => call.id === id) === true ? wait : null;
  }

  /** Keeps what the client gave, unless other results came before. */
  async receive(wait: ClientWait, results: readonly ClientResult[]): Promise<Received> {
    const { documents, clock } = this.parts;
    const key = keyOf(wait, wait.question);
    for (;;) {
      const found = await documents.find(key);
      const kept = found === undefined ? null : (JSON.parse(found.text) as ClientWait | null);
      if (found === undefined || kept === null) return 'late';
      if (kept.results !== null) return areSame(kept.results, results) ? 'again' : 'others';
      if (kept.until <= clock.now()) return 'late';
      const text = JSON.stringify({ ...kept, results });
      if (await documents.put(key, found.version + 1, text, found.expiresAt)) return 'first';
    }
  }
}

/** Whether both say the same of each call, in whatever order. */
function areSame(some: readonly ClientResult[], others: readonly ClientResult[]): boolean {
  const said = (results: readonly ClientResult[]): string =>
    results
      .map(({ id, text, isError }) => JSON.stringify([id, text, isError]))
      .sort()
      .join();
  return said(some) === said(others);
}

const prefix = 'client-call/';

function keyOf({ requestId, tenant }: NamedRun, question: string): string {
  return `${prefix}wait/${runName(requestId, tenant)}/${question}`;
}

/** Whether a document is a client’s call or its results, which may be personal. */
export function isClientCall(documentKey: string): boolean {
  return documentKey.startsWith(prefix);
}

/** 132 bits of a MAC that only an executor can make. */
function macOf(of: readonly unknown[], signatures: Pick<Signatures, 'keyedHash'>): string {
  const whole = sha256(signatures.keyedHash('executor', JSON.stringify(['client-call', ...of])));
  return Buffer.from(whole, 'hex').toString('base64url').slice(0, 22);
}
