import { Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { SlackDecisions } from './slack-decisions.js';

/** What Slack sends when a person presses a button of a message or submits its dialog (docs/notifications.md). */
@Controller()
export class SlackController {
  constructor(@Inject(SlackDecisions) private readonly decisions: SlackDecisions) {}

  /** Slack has no credential of Sluice: its signature is what counts. */
  @Post('v1/slack/interactions')
  @HttpCode(200)
  interact(@Req() request: Request & { rawBody?: Buffer }): Promise<object> {
    return this.decisions.interaction(request, {
      timestamp: request.get('x-slack-request-timestamp'),
      signature: request.get('x-slack-signature'),
      body: request.rawBody?.toString('utf8') ?? '',
    });
  }
}
