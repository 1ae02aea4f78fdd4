import { createHash, randomUUID } from 'node:crypto';
import { Controller, Get, HttpCode, Inject, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { claimMemoryMs } from '@sluice/core';
import { linkIn } from '@sluice/notify';
import type { MailLink } from '@sluice/notify';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';

/**
 * Links of mails to approvals. One leads to the approval’s page in the console, once, and decides nothing: the console
 * asks who one is. Looking at it uses it not up, since programs that scan mails look at links.
 */
@Controller()
export class MailLinksController {
  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {}

  @Get('v1/mail-links/:token')
  look(@Param('token') token: string, @Res() response: Response): void {
    const link = this.linkOf(token);
    if (link === null) return page(response, 410, ended);
    page(
      response,
      200,
      '<p>A call waits for an approval.</p><form method="post"><button>Open the console</button></form>',
    );
  }

  @Post('v1/mail-links/:token')
  @HttpCode(303)
  async follow(@Param('token') token: string, @Res() response: Response): Promise<void> {
    const link = this.linkOf(token);
    const owner = randomUUID();
    const { ledger, clock } = this.runtime;
    // Of the token nothing is kept that leads anywhere.
    const key = `mail-link/${createHash('sha256').update(token).digest('hex')}`;
    const isFirst =
      link !== null && (await ledger.claim({ key, owner, now: clock.now(), ttlMs: claimMemoryMs })).owner === owner;
    if (!isFirst) return page(response, 410, ended);
    response.redirect(303, `/approvals/${encodeURIComponent(link.approvalId)}`);
  }

  /** Null where no mail has it, or its time is over. */
  private linkOf(token: string): MailLink | null {
    const { configurations, environment, clock } = this.runtime;
    const { notify } = configurations.current().configuration;
    for (const { linkSecretEnv } of notify?.mail ?? []) {
      const link = linkIn(token, environment.secret(linkSecretEnv) ?? '');
      if (link !== null) return clock.now() < link.expiresAt ? link : null;
    }
    return null;
  }
}

const ended = '<p>This link was used, or its time is over. <a href="/approvals">The console</a> lists what waits.</p>';

function page(response: Response, status: number, body: string): void {
  const policy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
  response
    .status(status)
    .set('content-security-policy', policy)
    .type('html')
    .send(`<!doctype html><html lang="en"><title>Sluice</title>${body}</html>`);
}
