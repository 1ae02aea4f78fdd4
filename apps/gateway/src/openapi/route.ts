import { applyDecorators, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import { OperationOf, Rights } from '../rights.js';
import { operations } from './operations.js';

/**
 * A handler of the operation, with the method, the path and the status of success that `operations.ts` says, for those
 * whom it admits.
 */
export function Route(id: string): MethodDecorator {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id} in operations.ts.`);
  const { method, path, deepPlace, answers } = operation;
  const place = (_: string, name: string): string => `${name === deepPlace ? '*' : ':'}${name}`;
  const nested = path.slice(1).replace(/\{(\w+)\}/g, place);
  return applyDecorators(
    ...[method === 'get' ? Get(nested) : Post(nested), HttpCode(Number(Object.keys(answers)[0]))],
    ...[OperationOf(operation), UseGuards(Rights)],
  );
}
