import { Catch, HttpException } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Fault } from '@sluice/core';
import { Busy, TooManyRuns } from '@sluice/host';
import type { Log } from '@sluice/host';
import { tooLarge } from './limited-server.js';
import { refusalBody } from './doors/wire-error.js';
import { Refusal } from './refusal.js';
import { allowedMethods } from './openapi/routes.js';

/**
 * A refused caller gets the reason; an unforeseen error, or one for the operator to mend, is logged, and its text
 * goes no further.
 */
@Catch()
export class RefusalFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const response = http.getResponse<Response>();
    const request = http.getRequest<Request>();
    const refusal = this.refusalFor(error, request);
    if (response.headersSent) return void response.destroy();
    const { type, body } = refusalBody(request.path, refusal);
    response.status(refusal.status).set(refusal.headers).type(type).json(body);
  }

  private refusalFor(error: unknown, request: Request): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof Busy) return new Refusal(503, 'busy', error.message, { 'retry-after': '1' });
    if (error instanceof TooManyRuns)
      return new Refusal(429, 'too_many_runs', error.message, { 'retry-after': String(error.retryAfterSeconds) });
    if (error instanceof Fault && error.code === 'invalid_request') return new Refusal(400, error.code, error.message);
    if (error instanceof Fault && error.retryable) {
      this.log.warn({ code: error.code, error: error.message }, 'a request over HTTP could not be served now');
      return new Refusal(503, error.code, 'This cannot be answered now. Try again in a moment.', {
        'retry-after': '1',
      });
    }
    if (error instanceof HttpException) return ofNest(error, request);
    this.log.error({ error: error instanceof Error ? error.message : String(error) }, 'a request over HTTP failed');
    return new Refusal(500, 'internal', 'The gateway failed on this request; its log says why.');
  }
}

/** What Nest and Express refuse by themselves: a path that is not there, a body that cannot be read. */
function ofNest(error: HttpException, { method, path }: Request): Refusal {
  const status = error.getStatus();
  switch (status) {
    case 404: {
      const allow = allowedMethods(path);
      if (allow !== null)
        return new Refusal(405, 'invalid_request', `${path} does not take ${method}. It takes ${allow}.`, { allow });
      return new Refusal(404, 'not_found', `${error.message}. docs/http.md says what there is.`);
    }
    case 413:
      return new Refusal(413, 'too_large', tooLarge);
    default:
      return new Refusal(status, 'invalid_request', error.message);
  }
}
