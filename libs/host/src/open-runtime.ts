import { awaitBelonging } from './belonging.js';
import { ClockWatch } from './clock-watch.js';
import { Configurations } from '@sluice/run';
import type { Environment } from './environment.js';
import { Health } from './health.js';
import { measuredContent } from './measured-content.js';
import { openContent } from './open-content.js';
import { openCredentials, openSignatures } from './keys-environment.js';
import { openLocalSecret } from './local-secret-environment.js';
import type { Log } from './log.js';
import { collectProcessMetrics, createMetrics } from './metrics.js';
import { openBus, openLedger, requireSharedLedger } from './open-stores.js';
import { watchTopics } from './topics-metric.js';
import { watchReadiness } from './readiness-metric.js';
import { surviveUnhandled } from './unhandled.js';
import { privateDocuments } from './sealed-documents.js';
import { systemClock } from './runtime.js';
import type { Runtime } from './runtime.js';
import { tightenDataFolder } from './tighten.js';
import { openTraces } from './traces/open-traces.js';

const tidyEveryMs = 60_000;

const formerKeys =
  'the keys are of a former version, so configurations and calls need no signature: any writer on agent.config chooses the configuration. Make the missing keys with `sluice keys rotate` and hand them out, docs/security.md says how';
const unsignedEnds =
  'the keys do not say since when ends of runs are signed, so none need be: any writer on agent.responses can end runs for their readers. Rotate them with `sluice keys rotate` once all services are of this version and hand them out, docs/security.md says how';

const unsealed =
  'the keys are of a former version, so credentials stand on the log in clear. Make the missing keys with `sluice keys rotate` and hand them out, to filters and executors first; docs/security.md says how';

const closedForm =
  'a form of a call cannot be opened, so its call ends; give executors and MCP doors the same SLUICE_CONTENT_KEYS, the former keys behind the new one';

export interface OpenRuntime {
  readonly runtime: Runtime;
  /** Where health and metrics are served. */
  readonly url: string;
  /** Resolves when a service can go on no longer, with the reason. */
  readonly failed: Promise<Error>;
  /** What is to be closed before the log and the ledger are: last come, first closed. */
  beforeClose(close: () => Promise<void> | void): void;
  close(): Promise<void>;
}

/**
 * Opens what every process needs: log, ledger, configurations, health and metrics. Rejects with a sentence naming
 * what cannot be had. Under another clock than the system's, what has outlived its use goes by that one.
 */
export async function openRuntime(
  environment: Environment,
  log: Log,
  signal?: AbortSignal,
  clock = systemClock,
): Promise<OpenRuntime> {
  const closing: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    stopping();
    for (const step of closing.splice(0).reverse()) await step();
  };
  let stopping: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => (fail = resolve));

  requireSharedLedger(environment);
  if (environment.bus === 'sqlite') tightenDataFolder(environment, log);
  const signatures = openSignatures(environment);
  const localSecret = openLocalSecret(environment);
  const credentials = openCredentials(environment);
  const opened = openContent(environment, clock);
  if (signatures.since('agent') === Infinity || signatures.since('config') === Infinity) log.warn(formerKeys);
  else if (signatures.since('ends') === Infinity) log.warn(unsignedEnds);
  if (environment.bus === 'kafka' && !credentials.isSealing) log.warn(unsealed);
  let configurations: Configurations | undefined;
  try {
    const metrics = createMetrics();
    const content = measuredContent(opened, metrics);
    collectProcessMetrics(metrics);
    closing.push(surviveUnhandled({ log, metrics, fail: (error) => fail(error) }));
    const health = new Health();
    stopping = () =>
      health.add({ name: 'process', check: () => Promise.reject(new Error('The process is stopping.')) });
    const { host, port } = environment;
    const { serveOperations } = await import('./operations.js');
    const operations = await serveOperations({
      host,
      port,
      allowedHosts: environment.allowedHosts,
      health,
      metrics,
      log,
    });
    closing.push(() => operations.close());

    const traces = await openTraces(
      environment,
      () => configurations?.inForceOrNull()?.configuration.model ?? null,
      log,
    );
    closing.push(() => traces.close());
    closing.push(watchReadiness(health, metrics));

    // Served from here on, so that an operator sees what a process waits for that is not ready yet.
    const { bus, trim, warnings, findings } = await health.during('log', 'The log is not open yet.', (because) =>
      openBus(environment, log, signal, because),
    );
    closing.push(() => bus.close());
    for (const [name, check] of Object.entries(bus.checks)) health.add({ name, check });
    closing.push(watchTopics(findings, metrics));
    for (const warning of await warnings()) log.warn(warning);
    const store = environment.databaseUrl === null ? 'ledger' : 'database';
    const { ledger, check } = await health.during(store, 'The ledger is not open yet.', async (because) => {
      const opened = await openLedger(environment, log, signal, because);
      closing.push(() => opened.ledger.close());
      await awaitBelonging({ bus, ledger: opened.ledger }, environment, { log, signal, because });
      return opened;
    });
    const clocks = new ClockWatch({ log, metrics });
    const compared = async (): Promise<void> => {
      const time = await check();
      if (time !== null) clocks.note(time);
    };
    health.add({ name: store, check: compared });
    if (store === 'database') health.add({ name: 'clock', check: () => clocks.check() });

    const followed = (configurations = new Configurations(bus, metrics, log, signatures));
    closing.push(() => followed.close());
    health.add({ name: 'configuration', check: async () => void followed.current() });
    const runtime: Runtime = {
      environment,
      clock,
      log,
      metrics,
      traces,
      health,
      bus,
      ledger,
      rates: ledger,
      past: ledger.past,
      documents: privateDocuments(ledger.documents, environment, () => log.warn(closedForm)),
      content,
      signatures,
      localSecret,
      credentials,
      configurations: followed,
      fail,
    };
    closing.push(() => content.close());
    closing.push(keepTidy(runtime, trim));
    return { runtime, url: operations.url, failed, beforeClose: (step) => void closing.push(step), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Lets go of what has outlived its use; returns what stops it. */
function keepTidy({ clock, ledger, rates, past, documents, log }: Runtime, trim: () => Promise<void>): () => void {
  let isStopped = false;
  const tidy = async (): Promise<void> => {
    try {
      await trim();
      await ledger.sweep(clock.now());
      await rates.sweepRates(clock.now());
      await past.sweep(clock.now());
      await documents.sweep(clock.now());
    } catch (error) {
      // What it works on is closed while it is under way.
      if (isStopped) return;
      log.warn(
        { error: (error as Error).message },
        'old progress, expired claims and tasks could not be removed; trying again in a minute',
      );
    }
  };
  void tidy();
  const timer = setInterval(() => void tidy(), tidyEveryMs);
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
