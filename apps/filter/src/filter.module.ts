import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { localPrincipal } from '@sluice/core';
import { keyFileProblem } from '@sluice/identity';
import { otherLabel } from '@sluice/run';
import { AUTHENTICATOR, authenticatorOf, requireSigner, RUNTIME, startService } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { CancellationsService } from './cancellations.service.js';
import { FilterController } from './filter.controller.js';
import { FilterService } from './filter.service.js';
import { Scheduler } from './schedules/scheduler.js';
import { OverdueSweep } from './overdue/overdue-sweep.js';
import { OpenRunReporter } from './overdue/report-open-runs.js';

@Module({})
class FilterModule {
  static with(runtime: Runtime): DynamicModule {
    return {
      module: FilterModule,
      controllers: [FilterController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AUTHENTICATOR, useValue: authenticatorOf(runtime) },
        FilterService,
        CancellationsService,
      ],
    };
  }
}

/**
 * Starts the filter: agent.requests and agent.steps in, agent.toolsets and agent.responses out. It ends what is
 * overdue.
 */
export async function startFilter(runtime: Runtime): Promise<Service> {
  requireSigner('filter', runtime);
  sayWhoAsks(runtime);
  checkKeyFile(runtime);
  countFromZero(runtime);
  const service = await startService('filter', FilterModule.with(runtime), runtime);
  const sweep = new OverdueSweep(runtime);
  const reporter = new OpenRunReporter(runtime, sweep);
  const scheduler = new Scheduler(runtime);
  return {
    close: async () => {
      await scheduler.close();
      await reporter.close();
      await sweep.close();
      await service.close();
    },
  };
}

/**
 * Without the issuer’s keys no request can begin, so the filter is not ready while their file cannot be used. It is a
 * check from the first configuration on that names a file.
 */
function checkKeyFile({ configurations, health }: Runtime): void {
  const check = async (): Promise<void> => {
    const { identity } = configurations.current().configuration;
    if (identity.provider !== 'jwt' || identity.keyFile === null) return;
    const wrong = await keyFileProblem(identity.keyFile);
    if (wrong !== null) throw new Error(`The file ${identity.keyFile} with the keys for credentials ${wrong}.`);
  };
  configurations.onChange(({ configuration: { identity } }) => {
    if (identity.provider === 'jwt' && identity.keyFile !== null) health.add({ name: 'identity.key_file', check });
  });
}

/** Series start at 0, so that a group’s first request or refusal shows as an increase. */
function countFromZero({ configurations, metrics }: Runtime): void {
  for (const result of ['hit', 'miss']) metrics.filterMemory.inc({ result }, 0);
  configurations.onChange(({ evaluator }) => {
    for (const group of [...evaluator.rules.knownGroups, otherLabel]) {
      metrics.groupRequests.inc({ group }, 0);
      metrics.groupAccessDenied.inc({ group }, 0);
    }
    for (const group of Object.values(evaluator.configuration.groupFallbacks ?? {}).flat())
      metrics.fallbackGroups.inc({ group }, 0);
  });
}

/** Once for each time that it becomes so: an operator must know that callers are not authenticated. */
function sayWhoAsks({ configurations, log }: Runtime): void {
  let before: string | undefined;
  configurations.onChange(({ configuration }) => {
    const { provider } = configuration.identity;
    if (provider === 'none' && before !== provider)
      log.info({ principal: localPrincipal.actorId }, 'no identity is configured: everybody is one local principal');
    before = provider;
  });
}
