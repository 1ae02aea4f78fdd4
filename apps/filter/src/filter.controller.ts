import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { FilterService } from './filter.service.js';

@Controller()
export class FilterController {
  constructor(@Inject(FilterService) private readonly filter: FilterService) {}

  @EventPattern<string>(topics.requests)
  request(
    @Payload() message: Incoming<'agent.requests'>,
    @Ctx() context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    return this.filter.begin(message, context);
  }

  @EventPattern<string>(topics.steps)
  step(@Payload() message: Incoming<'agent.steps'>, @Ctx() context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.filter.goOn(message, context);
  }
}
