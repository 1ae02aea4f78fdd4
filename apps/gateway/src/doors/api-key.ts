import type { NextFunction, Request, Response } from 'express';
import { wireOfPath } from './door.js';

/** Clients of Anthropic send their key in a header of its own: behind its door that is the credential. */
export function takeApiKey(request: Request, _: Response, next: NextFunction): void {
  const key = request.get('x-api-key');
  if (key !== undefined && request.headers.authorization === undefined && wireOfPath(request.path) === 'anthropic')
    request.headers.authorization = `Bearer ${key}`;
  next();
}
