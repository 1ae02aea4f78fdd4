import type { DynamicModule } from '@nestjs/common';
import type { Dead, HandlerContext, Incoming, Outgoing, Subscription } from '@sluice/bus';
import { NestFactory } from '@nestjs/core';
import { idsOf, staysAbout, traceIdOf, withLogContext } from './log-context.js';
import type { LogContext } from './log-context.js';
import { BusTransport, PassOnFilter } from './bus-transport.js';
import { countFaultsFromZero, measureHop, observerOf, watchConsumer } from './consumer-metrics.js';
import { inTurn } from './in-turn.js';
import { nestLog } from './log.js';
import { endDeadRun, reportDeadLetter } from '@sluice/run';
import type { Runtime } from './runtime.js';
import { noTraces } from './traces/traces.js';

export interface Service {
  /** Stops taking records, lets running ones end for the drain time, and gives the rest up to be repeated. */
  close(): Promise<void>;
}

/** How a service reads that only watches: a record that it cannot handle ends no run. */
type Watching = Pick<Subscription, 'order' | 'taken' | 'deadLetters' | 'onDead' | 'retry'>;

/** How a service reads, where it is not as the others do. */
export interface Reading {
  readonly watching?: Watching;
  /** What is none of the service’s concerns is skipped; all is, unless it says so. */
  readonly concerns?: (message: Incoming) => boolean;
  /** Records in work at a time, where what each takes says more than the bus’s own limit. */
  readonly maxInFlight?: number;
}

/** As `service.ts` says. */
export async function startNestService(
  group: string,
  module: DynamicModule,
  runtime: Runtime,
  { watching, concerns = () => true, ...limits }: Reading,
): Promise<Service> {
  // Who only watches is no hop of the run.
  const transport = new BusTransport(runtime.bus, watching === undefined ? runtime.traces : noTraces, {
    group,
    drainMs: runtime.environment.drainMs,
    concerns,
    observer: observerOf(group, runtime),
    through:
      ({ topic, timestamp }) =>
      () =>
        measureHop(group, { topic, timestamp }, runtime),
    ...limits,
    ...watching,
    onDead: (dead, context) => watching?.onDead?.(dead, context) ?? buried(group, dead, context, runtime),
    afterDead: (dead) => {
      measureHop(group, dead, runtime);
      if (watching?.onDead === undefined) withLogContext(whose(dead), () => reportDeadLetter(dead, runtime));
    },
  });
  const app = await NestFactory.createMicroservice(module, {
    strategy: transport,
    logger: nestLog(runtime.log),
    abortOnError: false,
  });
  app.useGlobalFilters(new PassOnFilter());
  try {
    await runtime.health.during(group, `The service ${group} has no partitions yet.`, () =>
      inTurn(runtime.log, () => app.listen()),
    );
  } catch (error) {
    await app.close();
    throw error;
  }

  if (watching?.deadLetters !== false) countFaultsFromZero(transport.topics, runtime);
  const consumer = transport.running();
  let failure: Error | undefined;
  void consumer.failed.then((error) => {
    failure = error;
    runtime.fail(new Error(`The service ${group} can no longer work: ${error.message}`, { cause: error }));
  });
  runtime.health.add({
    name: group,
    check: () => {
      const trouble = failure?.message ?? consumer.standing.trouble;
      return trouble === undefined ? Promise.resolve() : Promise.reject(new Error(trouble));
    },
    figures: () => {
      const { partitions, heartbeatAgeMs } = consumer.standing;
      return { partitions, heartbeat_age_seconds: Math.round(heartbeatAgeMs) / 1_000 };
    },
  });
  const unwatch = watchConsumer(group, consumer, runtime);
  return {
    close: async () => {
      unwatch();
      await app.close();
    },
  };
}

/** What goes out beside a dead letter, in the dead record's trace; its lines say whose record it was. */
function buried(group: string, dead: Dead, context: HandlerContext, runtime: Runtime): Promise<readonly Outgoing[]> {
  return withLogContext(whose(dead), async () =>
    runtime.traces.dead(group, dead, context, await endDeadRun(dead, staysAbout(context), runtime)),
  );
}

function whose(dead: Dead): LogContext {
  const ids = dead.message === null ? {} : idsOf(dead.message);
  const traceId = traceIdOf(dead.headers);
  return traceId === undefined ? ids : { ...ids, trace_id: traceId };
}
