import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { sourceTopics } from '@sluice/audit';
import type { Source } from '@sluice/audit';
import type { HandlerContext, Outgoing } from '@sluice/bus';
import { AuditService } from './audit.service.js';

@Controller()
export class AuditController {
  constructor(@Inject(AuditService) private readonly audit: AuditService) {}

  @EventPattern<string[]>([...sourceTopics])
  record(@Payload() message: Source, @Ctx() context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.audit.tell(message, context);
  }
}
