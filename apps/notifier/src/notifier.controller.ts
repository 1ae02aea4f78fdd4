import { Controller, Inject } from '@nestjs/common';
import { notifiedTopics } from '@sluice/contracts';
import type { Outgoing } from '@sluice/bus';
import { Handles } from '@sluice/host';
import { NotifierService } from './notifier.service.js';
import type { Notified } from './notifier.service.js';

@Controller()
export class NotifierController {
  constructor(@Inject(NotifierService) private readonly notifier: NotifierService) {}

  @Handles(...notifiedTopics)
  record(message: Notified): Promise<readonly Outgoing[]> {
    return this.notifier.notificationsOf(message);
  }
}
