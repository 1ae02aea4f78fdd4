import { dataFiles } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { ApprovalClaims } from '@sluice/run';
import { follow, Projection } from '@sluice/projection';
import type { Counts } from '@sluice/projection';
import { Refusal } from '../refusal.js';

const tidyEveryMs = 3_600_000;

/** What lists are read from: this instance’s projection of the log, kept up to date in the background. */
export class Lists {
  #projection: Projection | undefined;
  #following: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly runtime: Pick<Runtime, 'bus' | 'clock' | 'ledger' | 'log' | 'environment'>) {}

  /** Without a file that can be written the gateway serves everything but lists, and its log says why. */
  async start(): Promise<void> {
    const { bus, environment, log } = this.runtime;
    const { signal } = this.#stopping;
    try {
      this.#projection = await Projection.open(dataFiles(environment).projection);
    } catch (error) {
      log.error({ error: (error as Error).message }, 'lists of runs cannot be served');
      return;
    }
    const onFailure = (error: unknown): void =>
      log.error(
        { error: error instanceof Error ? error.message : String(error) },
        'lists of runs are behind; trying again',
      );
    this.#following = follow(this.#projection, { bus, counts: countsBy(this.runtime), signal, onFailure });
    this.#timer = setInterval(() => void this.#tidy(), tidyEveryMs);
  }

  /** Throws Refusal(503) where there is no projection. */
  get projection(): Projection {
    if (this.#projection !== undefined) return this.#projection;
    throw new Refusal(503, 'busy', 'This gateway has no lists: its log says why. Try another instance.', {
      'retry-after': '10',
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#following;
    this.#projection?.close();
  }

  /** A run is listed as long as the log keeps its end. */
  async #tidy(): Promise<void> {
    const { clock, environment, log } = this.runtime;
    const { ms } = environment.retention['agent.responses'];
    const now = clock.now();
    try {
      await this.#projection?.forgetApprovals(now);
      if (ms !== -1) await this.#projection?.forget(now - ms);
    } catch (error) {
      log.warn({ error: String(error) }, 'old runs stay in the lists for another hour');
    }
  }
}

/** Executors vouch in the ledger for what they ask and decide; what is too late for a decision need not be looked up. */
function countsBy({ clock, ledger }: Pick<Runtime, 'clock' | 'ledger'>): Counts {
  const claims = new ApprovalClaims({ clock, ledger });
  return async ({ record: { requested, outcome } }) => {
    if (requested !== null) return requested.expiresAt > clock.now() && (await claims.isVouched(requested));
    return outcome !== null && (await claims.isDecided(outcome));
  };
}
