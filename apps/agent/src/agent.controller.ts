import { Controller, Inject } from '@nestjs/common';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/host';
import { AgentService } from './agent.service.js';

@Controller()
export class AgentController {
  constructor(@Inject(AgentService) private readonly agent: AgentService) {}

  @Handles(topics.toolsets)
  toolset(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.agent.takeTurn(message, context);
  }
}
