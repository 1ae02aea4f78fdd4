import type { DynamicModule, INestMicroservice } from '@nestjs/common';
import { GroupHeld } from '@sluice/bus';
import type { Subscription } from '@sluice/bus';
import { NestFactory } from '@nestjs/core';
import { BusTransport, inTrace, PassOnFilter } from './bus-transport.js';
import { nestLog } from './log.js';
import { endDeadRun } from './run-ends.js';
import type { Runtime } from './runtime.js';

export interface Service {
  /** Stops taking records, lets running ones end for the drain time, and gives the rest up to be repeated. */
  close(): Promise<void>;
}

/** How a service reads that only watches: what it gives up ends no run and is its own affair. */
export type Watching = Pick<Subscription, 'order' | 'deadLetters' | 'onDead' | 'retry'>;

/** Starts one service as a Nest microservice on the bus; `group` is its name there. */
export async function startService(
  group: string,
  module: DynamicModule,
  runtime: Runtime,
  watching: Watching = {},
): Promise<Service> {
  const transport = new BusTransport(runtime.bus, {
    group,
    drainMs: runtime.environment.drainMs,
    onDead: (dead, context) => inTrace(dead.headers, endDeadRun(dead, context, runtime)),
    ...watching,
  });
  const app = await NestFactory.createMicroservice(module, {
    strategy: transport,
    logger: nestLog(runtime.log),
    abortOnError: false,
  });
  app.useGlobalFilters(new PassOnFilter());
  try {
    await listenInTurn(app, runtime);
  } catch (error) {
    await app.close();
    throw error;
  }

  const consumer = transport.running();
  let failure: Error | undefined;
  void consumer.failed.then((error) => {
    failure = error;
    runtime.fail(new Error(`The service ${group} can no longer work: ${error.message}`, { cause: error }));
  });
  runtime.health.add({
    name: group,
    check: () => (failure === undefined ? Promise.resolve() : Promise.reject(failure)),
  });
  const sample = setInterval(() => runtime.metrics.inFlight.set({ group }, consumer.inFlight), 1_000);
  return {
    close: async () => {
      clearInterval(sample);
      await app.close();
    },
  };
}

/** How long a start waits for a former process on the same log to end, in milliseconds. */
const formerProcessMs = 5_000;

/** A process that was just asked to stop may still be ending its work: the next one waits for it a little. */
async function listenInTurn(app: INestMicroservice, { log }: Runtime): Promise<void> {
  for (const until = performance.now() + formerProcessMs; ;) {
    try {
      await app.listen();
      return;
    } catch (error) {
      if (!(error instanceof GroupHeld) || performance.now() > until) throw error;
      log.warn(`${error.message} Waiting a little for it.`);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
