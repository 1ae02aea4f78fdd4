import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { RUNTIME, startService } from '@sluice/service';
import type { Runtime, Service } from '@sluice/service';
import { FilterController } from './filter.controller.js';
import { FilterService } from './filter.service.js';

@Module({})
export class FilterModule {
  static with(runtime: Runtime): DynamicModule {
    return {
      module: FilterModule,
      controllers: [FilterController],
      providers: [{ provide: RUNTIME, useValue: runtime }, FilterService],
    };
  }
}

/** Starts the filter: agent.requests and agent.steps in, agent.toolsets and agent.responses out. */
export function startFilter(runtime: Runtime): Promise<Service> {
  return startService('filter', FilterModule.with(runtime), runtime);
}
