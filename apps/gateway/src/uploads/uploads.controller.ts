import { Controller, Inject, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '@sluice/core';
import { keepFile, uploadExpiry, uploadsOf } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';
import { refusingContent } from './refuse-content.js';
import { uploadParameters } from './upload-parameters.js';

/** Images and files for questions that are to come. */
@Controller()
export class UploadsController {
  constructor(@Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'content'>) {}

  @Route('upload')
  async upload(
    @ByPrincipal() caller: Principal,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
  ): Promise<object> {
    const { name = null } = parametersOf(query, uploadParameters);
    requireBytes(http);
    const expiresAt = uploadExpiry(this.runtime.clock.now());
    const pieces = http.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    const file = { bytes: pieces, type: http.get('content-type') ?? null, name };
    try {
      const content = await refusingContent(() => keepFile(this.runtime.content, uploadsOf(caller), file, expiresAt));
      return { content, expires_at: expiresAt };
    } catch (error) {
      // The rest is read and dropped, so that its sender gets the answer.
      await pieces.return?.();
      http.resume();
      if (http.readableAborted) throw new Refusal(400, 'invalid_request', 'The file did not come whole.');
      throw error;
    }
  }
}

/** Throws Refusal(415) for a form, and for what is packed on the way: the body is the file as it is. */
function requireBytes(http: Request): void {
  if (/^(?:multipart\/|application\/x-www-form-urlencoded)/i.test(http.get('content-type') ?? ''))
    throw new Refusal(
      415,
      'invalid_request',
      'Send the file itself as the body, not a form, with its type in content-type: curl --data-binary @picture.png -H "content-type: image/png".',
    );
  if (!/^(?:identity)?$/i.test(http.get('content-encoding') ?? ''))
    throw new Refusal(415, 'invalid_request', 'Send the file as it is, without content-encoding.');
}
