import { operations } from './operations.js';

/** The methods that a path has, as the header `allow` lists them; null where there is no such path. */
export function allowedMethods(path: string): string | null {
  const methods = operations.filter((one) => formOf(one.path, one.deepPlace).test(path)).map(({ method }) => method);
  if (methods.length === 0) return null;
  return methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ');
}

function formOf(path: string, deepPlace: string | undefined): RegExp {
  const parts = path
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 0 ? part.replaceAll('.', '\\.') : part === deepPlace ? '.+' : '[^/]+'));
  return new RegExp(`^${parts.join('')}/?$`);
}
