import { Controller, Inject } from '@nestjs/common';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/host';
import { ReturnsService } from './agents/returns.service.js';
import { ApprovalsService } from './approvals/approvals.service.js';
import { CallsService } from './calls.service.js';
import { ExecutorService } from './executor.service.js';

@Controller()
export class ExecutorController {
  constructor(
    @Inject(ExecutorService) private readonly executor: ExecutorService,
    @Inject(CallsService) private readonly calls: CallsService,
    @Inject(ApprovalsService) private readonly approvals: ApprovalsService,
    @Inject(ReturnsService) private readonly returns: ReturnsService,
  ) {}

  @Handles(topics.toolCalls)
  toolCall(message: Incoming<'agent.tool-calls'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.executor.execute(message, context);
  }

  @Handles(topics.calls)
  call(message: Incoming<'agent.calls'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.calls.call(message, context);
  }

  @Handles(topics.approvals)
  approval(message: Incoming<'agent.approvals'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.approvals.take(message, context);
  }

  @Handles(topics.responses)
  response(message: Incoming<'agent.responses'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.returns.take(message, context);
  }
}
