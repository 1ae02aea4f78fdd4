import { createParamDecorator, Inject, Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Request } from 'express';
import { Callers } from './caller.js';
import type { Caller } from './caller.js';
import type { Operation } from './openapi/operation.js';
import { Operators } from './operators.js';
import { locationOfLink } from './run-location.js';

/** What the guard goes by: of a route, whom it admits. */
type Admission = Pick<Operation, 'who' | 'method' | 'path'>;

/** Holds the operation that a handler answers. */
export const OperationOf = Reflector.createDecorator<Admission>();

/** Lets pass whom the operation's description admits (`who` of `openapi/operation.ts`), before its handler runs. */
@Injectable()
export class Rights implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock'>,
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Operators) private readonly operators: Operators,
  ) {}

  /** Throws the Refusal that the caller gets. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const operation = this.reflector.get(OperationOf, context.getHandler());
    const http = context.switchToHttp().getRequest<Request>();
    const caller = await this.callerFor(operation, http);
    if (caller !== null) admitted.set(http, caller);
    return true;
  }

  /** Null where no credential is asked for. */
  private async callerFor({ who, method, path }: Admission, http: Request): Promise<Caller | null> {
    switch (who) {
      case 'anyone':
        return null;
      case 'asker':
        return this.callers.asking(http);
      case 'caller':
        return this.callers.of(http);
      case 'link': {
        const query = { requestId: String(http.params['request_id']), query: http.query };
        const run = locationOfLink(query, this.runtime.clock.now());
        return run === null ? this.callers.of(http) : this.callers.ofRun(http, run, http.query['token']);
      }
      case 'operator': {
        const caller = await this.callers.of(http);
        await this.operators.require(caller.principal, `${method.toUpperCase()} ${path}`);
        return caller;
      }
    }
  }
}

const admitted = new WeakMap<Request, Caller>();

function callerOf(context: ExecutionContext): Caller {
  const caller = admitted.get(context.switchToHttp().getRequest<Request>());
  if (caller === undefined) throw new Error('The operation asks for no credential: see `who` in operations.ts.');
  return caller;
}

/** The argument of a handler that is the caller's principal. */
export const ByPrincipal = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context).principal);

/** The argument of a handler that is the caller, with the claims of its credential. */
export const ByCaller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(context));
