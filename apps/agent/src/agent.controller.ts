import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { AgentService } from './agent.service.js';

@Controller()
export class AgentController {
  constructor(@Inject(AgentService) private readonly agent: AgentService) {}

  @EventPattern<string>(topics.toolsets)
  toolset(
    @Payload() message: Incoming<'agent.toolsets'>,
    @Ctx() context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    return this.agent.takeTurn(message, context);
  }
}
