import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { ReturnsService } from './agents/returns.service.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { ExecutorService } from './executor.service.js';

@Controller()
export class ExecutorController {
  constructor(
    @Inject(ExecutorService) private readonly executor: ExecutorService,
    @Inject(ApprovalsService) private readonly approvals: ApprovalsService,
    @Inject(ReturnsService) private readonly returns: ReturnsService,
  ) {}

  @EventPattern<string>(topics.toolCalls)
  toolCall(
    @Payload() message: Incoming<'agent.tool-calls'>,
    @Ctx() context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    return this.executor.execute(message, context);
  }

  @EventPattern<string>(topics.approvals)
  approval(
    @Payload() message: Incoming<'agent.approvals'>,
    @Ctx() context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    return this.approvals.take(message, context);
  }

  @EventPattern<string>(topics.responses)
  response(
    @Payload() message: Incoming<'agent.responses'>,
    @Ctx() context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    return this.returns.take(message, context);
  }
}
