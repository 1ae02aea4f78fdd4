import { applyDecorators, Controller, Get, HttpCode, Inject, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '@sluice/core';
import { ByPrincipal, OperationOf, Rights } from '../rights.js';
import { modelPrefix } from './door.js';
import { Doors } from './doors.js';
import { EarlierResponses } from './earlier.js';
import { doorOperations } from './operations.js';

/** A handler of a door, for those whom `operations.ts` admits. */
function Door(id: string): MethodDecorator {
  const operation = doorOperations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id} in operations.ts.`);
  const path = operation.path.slice(1).replace(/\{(\w+)\}/g, ':$1');
  return applyDecorators(
    ...[operation.method === 'get' ? Get(path) : Post(path), HttpCode(200)],
    ...[OperationOf(operation), UseGuards(Rights)],
  );
}

/** Doors for clients of the model providers: an agent of this installation is a model to them (docs/doors.md). */
@Controller()
export class DoorsController {
  constructor(
    @Inject(Doors) private readonly doors: Doors,
    @Inject(EarlierResponses) private readonly earlier: EarlierResponses,
  ) {}

  @Door('listDoorModels')
  models(@ByPrincipal() caller: Principal): object {
    const data = this.doors.agents(caller).map((name) => ({
      ...{ id: `${modelPrefix}${name}`, object: 'model', created: 0, owned_by: 'sluice' },
    }));
    return { object: 'list', data };
  }

  @Door('chatCompletion')
  chat(@ByPrincipal() caller: Principal, @Req() http: Request, @Res() response: Response): Promise<void> {
    return this.doors.answer('openai-chat', 'POST /openai/v1/chat/completions', caller, http, response);
  }

  @Door('createResponse')
  respond(@ByPrincipal() caller: Principal, @Req() http: Request, @Res() response: Response): Promise<void> {
    return this.doors.answer('openai-responses', 'POST /openai/v1/responses', caller, http, response);
  }

  @Door('readResponse')
  async read(
    @ByPrincipal() caller: Principal,
    @Param('response_id') id: string,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const body = await this.earlier.read(id, caller, http, response);
    response.status(200).type('application/json').send(body);
  }

  @Door('createMessage')
  message(@ByPrincipal() caller: Principal, @Req() http: Request, @Res() response: Response): Promise<void> {
    return this.doors.answer('anthropic', 'POST /anthropic/v1/messages', caller, http, response);
  }
}
