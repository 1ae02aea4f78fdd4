import { applyDecorators, Delete, Get, HttpCode, Patch, Post, UseGuards } from '@nestjs/common';
import { OperationOf, Rights } from '../rights.js';
import { operations } from './operations.js';

const decorators = { get: Get, post: Post, patch: Patch, delete: Delete };

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
    ...[decorators[method](nested), HttpCode(Number(Object.keys(answers)[0]))],
    ...[OperationOf(operation), UseGuards(Rights)],
  );
}
