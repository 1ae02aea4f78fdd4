import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { Configuration } from '@sluice/core';
import type { Dead, Outgoing } from '@sluice/bus';
import { RUNTIME, startService } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { Deliveries } from './deliveries.js';
import { HeldBackTools } from './held-back.js';
import { NotifierController } from './notifier.controller.js';
import { Receivers } from './receivers.js';
import { NotifierService } from './notifier.service.js';

/** Waits for as long as it takes: a notification that is missing would be missed. */
const retry = { initialMs: 100, maxMs: 10_000, attempts: Infinity };

@Module({})
class NotifierModule {
  static with(runtime: Runtime, notifier: NotifierService): DynamicModule {
    return {
      module: NotifierModule,
      controllers: [NotifierController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: NotifierService, useValue: notifier },
      ],
    };
  }
}

/** Starts the notifier: what happened in, agent.notifications out, and webhooks of these. */
export async function startNotifier(runtime: Runtime): Promise<Service> {
  const onDead = ({ topic, partition, offset, code, reason }: Dead): readonly Outgoing[] => {
    runtime.log.error({ topic, partition, offset, code, reason }, 'nothing is notified of a record');
    return [];
  };
  const receivers = new Receivers(runtime);
  await receivers.start();
  const notifier = new NotifierService(runtime, receivers);
  const service = await startService('notifier', NotifierModule.with(runtime, notifier), runtime, {
    // A record that cannot be read is the dead letter of who works on it.
    watching: { deadLetters: false, onDead, retry },
  });
  const deliveries = new Deliveries(runtime, receivers);
  deliveries.start();
  const heldBack = new HeldBackTools(runtime, notifier);
  heldBack.start();
  return {
    close: async () => {
      await heldBack.close();
      await service.close();
      await deliveries.close();
      await receivers.close();
    },
  };
}

/** The same once a configuration has subscriptions: where all services run in one process, most need none. */
export async function startNotifierWhenWanted(runtime: Runtime): Promise<Service> {
  let starting: Promise<Service | null> | undefined;
  let isClosed = false;
  runtime.configurations.onChange(({ configuration }: { readonly configuration: Configuration }) => {
    if (starting !== undefined || isClosed || configuration.notify === undefined) return;
    starting = startNotifier(runtime).catch((error: unknown) => {
      runtime.fail(new Error(`The notifier could not be started: ${(error as Error).message}`, { cause: error }));
      return null;
    });
  });
  await starting;
  return {
    close: async () => {
      isClosed = true;
      await (await starting)?.close();
    },
  };
}
