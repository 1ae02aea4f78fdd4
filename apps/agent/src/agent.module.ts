import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { requireSigner, RUNTIME, startService } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { AgentController } from './agent.controller.js';
import { AgentService, MODELS } from './agent.service.js';
import { Models } from '@sluice/model';
import type { ModelSource } from '@sluice/model';

@Module({})
class AgentModule {
  static with(runtime: Runtime, models: ModelSource): DynamicModule {
    return {
      module: AgentModule,
      controllers: [AgentController],
      providers: [{ provide: RUNTIME, useValue: runtime }, { provide: MODELS, useValue: models }, AgentService],
    };
  }
}

/**
 * Turns under way in one instance. With 500 of 10 KB an agent ran out of its heap in a container of 256 MiB; with so
 * many it takes 133 to 164 MiB.
 */
const maxInFlight = 256;

/** Starts the agent: agent.toolsets in, agent.tool-calls and agent.responses out. */
export async function startAgent(runtime: Runtime, models: ModelSource): Promise<Service> {
  // Keys of a former version have none of the agent, and it signs nothing with them.
  if (runtime.signatures.since('agent') !== Infinity) requireSigner('agent', runtime);
  return startService('agent', AgentModule.with(runtime, models), runtime, { maxInFlight });
}

/** The agent with the models that the configuration names. */
export function serveAgent(runtime: Runtime): Promise<Service> {
  return startAgent(runtime, new Models((variable) => runtime.environment.secret(variable)));
}
