import { doorOperations } from '../doors/operations.js';
import type { Operation } from './operation.js';
import { operations } from './operations.js';

type Routed = Pick<Operation, 'method' | 'path' | 'deepPlace'>;

/**
 * What stands in a door’s place may be a route that its provider has and this gateway has not: clients that look for
 * one expect a 404.
 */
const fixedDoors = doorOperations.filter(({ path }) => !path.includes('{'));

/** The methods that a path has, as the header `allow` lists them; null where there is no such path. */
export function allowedMethods(path: string): string | null {
  const parts = path.replace(/\/$/, '').split('/');
  const all: readonly Routed[] = [...operations, ...fixedDoors];
  const methods = all.filter((one) => isOf(parts, one)).map(({ method }) => method);
  if (methods.length === 0) return null;
  return methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ');
}

/**
 * Whether the parts are those of the path, where names in braces stand for any text; the last one may be several
 * parts.
 */
function isOf(parts: readonly string[], { path, deepPlace }: Routed): boolean {
  const wanted = path.split('/');
  const isLong = deepPlace !== undefined && parts.length > wanted.length;
  if (parts.length !== wanted.length && !isLong) return false;
  return wanted.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]));
}
