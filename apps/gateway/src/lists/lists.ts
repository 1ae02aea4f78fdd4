import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import { projectionLocation } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { ApprovalClaims, GenuineEnds, runCosts } from '@sluice/run';
import { follow, Projection } from '@sluice/projection';
import type { Counts } from '@sluice/projection';
import type { Configuration } from '@sluice/core';
import { Refusal } from '../refusal.js';

const tidyEveryMs = 3_600_000;
const openAgainMs = 2_000;
const mostMissing = 1_000;
/** So long usage by day is kept. */
const usageKeptMs = 400 * 86_400_000;

/** What lists are read from: the projection of the log, kept up to date in the background. */
export class Lists {
  private _projection: Projection | undefined;
  private working: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  /** Versions of configurations that records name and that cannot be had. */
  private readonly missing = new Set<string>();

  constructor(
    private readonly runtime: Pick<
      Runtime,
      'bus' | 'clock' | 'configurations' | 'ledger' | 'log' | 'environment' | 'signatures'
    >,
  ) {}

  /**
   * Without tables that can be written the gateway serves everything but lists, and its log says why. A database that
   * is away is waited for.
   */
  async start(): Promise<void> {
    const opening = this.open();
    this.working = opening.then(() => this.follow());
    // A file is there at once; a database may not be.
    if (this.runtime.environment.databaseUrl === null) await opening;
  }

  private async open(): Promise<void> {
    const { environment, log } = this.runtime;
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        this._projection = await Projection.open(projectionLocation(environment));
        return;
      } catch (error) {
        const mayPass = environment.databaseUrl !== null && error instanceof Fault && error.retryable;
        if (failures === 0 || !mayPass)
          log.error({ error: (error as Error).message, tried_again: mayPass }, 'lists of runs cannot be served');
        if (!mayPass) return;
        await delay(openAgainMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private async follow(): Promise<void> {
    const { log, signatures } = this.runtime;
    const bus = new GenuineEnds(this.runtime.bus, signatures, log);
    const { signal } = this.stopping;
    if (this._projection === undefined) return;
    const onFailure = (error: unknown): void =>
      log.error(
        { error: error instanceof Error ? error.message : String(error) },
        'lists of runs are behind; trying again',
      );
    this.timer = setInterval(() => void this.tidy(), tidyEveryMs);
    const costs = runCosts((version) => this.configuration(version));
    await follow(this._projection, { bus, counts: countsBy(this.runtime), costs, signal, onFailure });
  }

  /** Null where it cannot be had; that is asked once for each. */
  private async configuration(version: string): Promise<Configuration | null> {
    if (this.missing.has(version)) return null;
    try {
      return (await this.runtime.configurations.version(version)).configuration;
    } catch {
      if (this.missing.size >= mostMissing) this.missing.clear();
      this.missing.add(version);
      return null;
    }
  }

  /** Throws Refusal(503) where there is no projection. */
  get projection(): Projection {
    if (this._projection !== undefined) return this._projection;
    throw new Refusal(503, 'busy', 'This gateway has no lists: its log says why. Try another instance.', {
      'retry-after': '10',
    });
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.working;
    clearInterval(this.timer);
    await this._projection?.close();
  }

  /** A run is listed as long as the log keeps its end, a dead letter as long as the log has it. */
  private async tidy(): Promise<void> {
    const { clock, environment, log } = this.runtime;
    const { retention, http } = environment;
    const now = clock.now();
    const before = (ms: number): { readonly at?: number } => (ms === -1 ? {} : { at: now - ms });
    const { at: runs } = before(retention['agent.responses'].ms);
    const { at: letters } = before(retention['agent.dead-letters'].ms);
    const { at: audit } = before(http.auditMs ?? retention['agent.audit'].ms);
    try {
      await this._projection?.forget({
        approvals: now,
        usage: now - usageKeptMs,
        ...(runs === undefined ? {} : { runs }),
        ...(letters === undefined ? {} : { letters }),
        ...(audit === undefined ? {} : { audit }),
      });
    } catch (error) {
      log.warn({ error: String(error) }, 'old runs stay in the lists for another hour');
    }
  }
}

/**
 * Executors vouch in the ledger for what they ask and decide; what is too late for a decision need not be looked up.
 */
function countsBy({ clock, ledger }: Pick<Runtime, 'clock' | 'ledger'>): Counts {
  const claims = new ApprovalClaims({ clock, ledger });
  return async ({ record: { requested, outcome } }) => {
    if (requested !== null) return requested.expiresAt > clock.now() && (await claims.isVouched(requested));
    return outcome !== null && (await claims.isDecided(outcome));
  };
}
