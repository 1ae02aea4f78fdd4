import { Controller, Inject } from '@nestjs/common';
import { sourceTopics } from '@sluice/audit';
import type { Source } from '@sluice/audit';
import type { HandlerContext, Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/host';
import { AuditService } from './audit.service.js';

@Controller()
export class AuditController {
  constructor(@Inject(AuditService) private readonly audit: AuditService) {}

  @Handles(...sourceTopics)
  record(message: Source, context: HandlerContext): Promise<readonly Outgoing[]> {
    return this.audit.tell(message, context);
  }
}
