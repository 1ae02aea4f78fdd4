import { Controller, Inject } from '@nestjs/common';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/service';
import { FilterService } from './filter.service.js';

@Controller()
export class FilterController {
  constructor(@Inject(FilterService) private readonly filter: FilterService) {}

  @Handles(topics.requests)
  request(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.filter.begin(message, context);
  }

  @Handles(topics.steps)
  step(message: Incoming<'agent.steps'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.filter.goOn(message, context);
  }
}
