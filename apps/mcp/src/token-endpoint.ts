import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { readCredential } from '@sluice/mcp';
import { Callers } from './callers.js';
import type { Caller } from './callers.js';
import { Limits } from './limits.js';
import { strangerOf } from './loopback.js';
import { StateCredentials } from './state-credentials.js';

/** Bytes of a form; an issuer’s token has a few thousand at most. */
const longestForm = 65_536;
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const tokenTypes: readonly (string | null)[] = [accessToken, 'urn:ietf:params:oauth:token-type:jwt', null];

/** A refusal as OAuth 2.0 has it (RFC 6749, 5.2). */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    description: string,
  ) {
    super(description);
  }
}

/**
 * The endpoint where the identity’s token is exchanged for a state credential (RFC 8693), and where that is revoked
 * (RFC 7009).
 */
@Injectable()
export class TokenEndpoint {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(StateCredentials) private readonly credentials: StateCredentials,
    @Inject(Limits) private readonly limits: Limits,
  ) {}

  exchange(request: Request, response: Response): Promise<void> {
    return this.answer(request, response, async (form) => {
      if (form.get('grant_type') !== exchange)
        throw new Refused(400, 'unsupported_grant_type', `The grant_type must be ${exchange}.`);
      if (!tokenTypes.includes(form.get('subject_token_type')))
        throw new Refused(400, 'invalid_request', 'The subject_token_type must be that of an access token or a JWT.');
      const given = form.get('subject_token') ?? '';
      const written = readCredential(given);
      const token = written === null ? given : written.token;
      const held = await this.holder(token);
      const minted =
        written === null ? await this.credentials.begin(held) : await this.credentials.exchange(written.session, held);
      if (minted === null)
        throw new Refused(400, 'invalid_grant', 'The credential is unknown or revoked. Exchange the identity’s token.');
      return { ...minted, issued_token_type: accessToken };
    });
  }

  revoke(request: Request, response: Response): Promise<void> {
    return this.answer(request, response, async (form) => {
      const written = readCredential(form.get('token') ?? '');
      if (written === null) return {};
      await this.credentials.revoke(written.session, (await this.holder(written.token)).principal);
      return {};
    });
  }

  private isOpen(): boolean {
    return this.runtime.configurations.current().configuration.identity.provider === 'none';
  }

  /** Whose token it is. Each use counts as a call of the caller. */
  private async holder(token: string | null): Promise<Pick<Caller, 'principal' | 'token'>> {
    const caller = await this.callers.of(token === null ? undefined : `Bearer ${token}`);
    if ('refused' in caller) throw new Refused(400, 'invalid_grant', caller.refused);
    const limited = await this.limits.admit(caller.principal);
    if ('refused' in limited) throw new Refused(429, 'slow_down', limited.refused);
    limited.done();
    return caller;
  }

  private async answer(
    request: Request,
    response: Response,
    act: (form: URLSearchParams) => Promise<object>,
  ): Promise<void> {
    response.setHeader('cache-control', 'no-store');
    try {
      const stranger = this.isOpen() ? strangerOf(request, this.runtime.environment) : null;
      if (stranger !== null) throw new Refused(403, 'access_denied', stranger);
      response.status(200).json(await act(await formOf(request)));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      response.status(error.status).json({ error: error.code, error_description: error.message });
    }
  }
}

async function formOf(request: Request): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.get('content-type') ?? ''))
    throw new Refused(400, 'invalid_request', 'Send the parameters as application/x-www-form-urlencoded.');
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > longestForm) throw new Refused(413, 'invalid_request', `The form has more than ${longestForm} bytes.`);
    parts.push(part);
  }
  const form = new URLSearchParams(Buffer.concat(parts).toString('utf8'));
  const twice = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
  if (twice !== undefined) throw new Refused(400, 'invalid_request', 'A parameter is there twice.');
  return form;
}
