import { Controller, Inject } from '@nestjs/common';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/host';
import { CancellationsService } from './cancellations.service.js';
import { FilterService } from './filter.service.js';

@Controller()
export class FilterController {
  constructor(
    @Inject(FilterService) private readonly filter: FilterService,
    @Inject(CancellationsService) private readonly cancellations: CancellationsService,
  ) {}

  @Handles(topics.requests)
  request(message: Incoming<'agent.requests'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.filter.begin(message, context);
  }

  @Handles(topics.steps)
  step(message: Incoming<'agent.steps'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.filter.goOn(message, context);
  }

  @Handles(topics.cancellations)
  cancel(message: Incoming<'agent.cancellations'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.cancellations.take(message, context);
  }
}
