import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '@sluice/host';
import { Turns } from './in-turn.js';
import { changeValue, keptValue } from './kept-values.js';
import type { Keeping } from './kept-values.js';
import type { CallsInTurn } from './server-parts.js';

/** For how long a turn is taken, and how often that is renewed, in milliseconds. */
const takenMs = 10_000;
const renewMs = 3_000;
const lookMs = 100;

/** It expires where the process of its holder is gone. */
interface Turn {
  readonly holder: string;
}

/**
 * The turns of sessions whose calls come to several replicas: of calls that can move the state of one session, one is
 * under way at a time, wherever. Within a process they go as InTurn has it.
 */
export class SessionTurns {
  private readonly here = new Turns();
  private readonly keeping: Keeping;

  constructor({ documents, clock }: Pick<Runtime, 'documents' | 'clock'>) {
    this.keeping = { documents, clock };
  }

  /** `key` names the session with whose it is. */
  of(key: string): CallsInTurn {
    const inTurn = this.here.of(key);
    const name = `mcp/turn/${key}`;
    return {
      alone: (call) => inTurn.alone(() => this.alone(name, call)),
      besides: async (call, isPermitted) =>
        inTurn.besides(async () => {
          if ((await this.isTaken(name)) && !(await isPermitted().catch(() => false)))
            while (await this.isTaken(name)) await delay(lookMs);
          return call();
        }, isPermitted),
    };
  }

  private async alone<T>(name: string, call: () => Promise<T>): Promise<T> {
    const holder = randomUUID();
    while (!(await this.take(name, holder))) await delay(lookMs);
    const renewing = setInterval(() => void this.renew(name, holder).catch(() => undefined), renewMs);
    renewing.unref();
    try {
      return await call();
    } finally {
      clearInterval(renewing);
      await this.release(name, holder).catch(() => undefined);
    }
  }

  private async isTaken(name: string): Promise<boolean> {
    return (await keptValue<Turn>(this.keeping, name)) !== null;
  }

  private async take(name: string, holder: string): Promise<boolean> {
    const turn = await changeValue<Turn>(this.keeping, name, takenMs, (before) =>
      before === null ? { holder } : null,
    );
    return turn !== null;
  }

  private async renew(name: string, holder: string): Promise<void> {
    await changeValue<Turn>(this.keeping, name, takenMs, (before) => (before?.holder === holder ? before : null));
  }

  private async release(name: string, holder: string): Promise<void> {
    await changeValue<Turn>(this.keeping, name, 0, (before) => (before?.holder === holder ? before : null));
  }
}
