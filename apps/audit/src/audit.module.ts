import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { decodeHead } from '@sluice/audit';
import { openVerifier, requireSigner, RUNTIME, startService } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { AuditController } from './audit.controller.js';
import { AuditService } from './audit.service.js';
import { watchGroupLags } from './group-lags.js';
import { defaultPace } from './pace.js';
import type { Pace } from './pace.js';
import { Unsealed } from './unsealed.js';

/** Waits for as long as it takes: an entry that is missing would be a hole in the chain. */
const retry = { initialMs: 100, maxMs: 10_000, attempts: Infinity };

@Module({})
class AuditModule {
  static with(runtime: Runtime, audit: AuditService): DynamicModule {
    return {
      module: AuditModule,
      controllers: [AuditController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AuditService, useValue: audit },
      ],
    };
  }
}

/** Starts the audit: every topic but progress in, agent.audit out. */
export async function startAudit(runtime: Runtime, pace: Pace = defaultPace): Promise<Service> {
  requireSigner('audit', runtime);
  const unsealed = new Unsealed(runtime, pace);
  const signatures = openVerifier(runtime.environment, runtime.signatures);
  const audit = new AuditService(runtime, unsealed, pace, { signatures, clock: runtime.clock });
  const service = await startService('audit', AuditModule.with(runtime, audit), runtime, {
    watching: {
      order: 'partition',
      taken: (place, carried) => unsealed.taken(place, decodeHead(carried)),
      deadLetters: false,
      onDead: (dead, context) => audit.reportDeadLetter(dead, context),
      retry,
    },
  });
  unsealed.start();
  const unwatch = watchGroupLags(runtime);
  return {
    close: async () => {
      unwatch();
      await service.close();
      await unsealed.close();
    },
  };
}
