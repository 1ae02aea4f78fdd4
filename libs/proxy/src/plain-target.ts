import { endpointOf } from './endpoint.js';

const unreserved = /[A-Za-z0-9._~-]/;
const separator = /[/\\]+/;

/**
 * A request’s path in the one form by which it is matched and sent on: without `.`, `..` and empty segments, with `/`
 * for `\`, and with nothing encoded that need not be. So no server reads another path than the one that was allowed.
 * Null where it could: a slash that is encoded may be part of a model’s name, but not of `..`, nor of a path at which
 * a model is asked. The query stays as it is.
 */
export function plainTarget(method: string, target: string): string | null {
  const mark = target.indexOf('?');
  const [path, query] = mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark)];
  if (!/^[/\\]/.test(path) || path.includes('#')) return null;
  const readable = withoutNeedlessEscapes(path);
  if (readable === null) return null;
  const plain = resolved(readable);
  const decoded = decodedFully(plain);
  if (decoded === null || decoded.split(separator).some((segment) => /^\.{1,2}$/.test(segment.split(';')[0] ?? '')))
    return null;
  const isHiddenEndpoint =
    endpointOf(method, plain) === null && endpointOf(method, decoded.replaceAll('\\', '/')) !== null;
  return isHiddenEndpoint ? null : plain + query;
}

/** Null where a `%` is no escape. */
function withoutNeedlessEscapes(path: string): string | null {
  if (/%(?![\da-fA-F]{2})/.test(path)) return null;
  return path.replace(/%([\da-fA-F]{2})/g, (escape, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return unreserved.test(character) ? character : escape;
  });
}

function resolved(path: string): string {
  const kept: string[] = [];
  const segments = path.split(separator);
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const isFolder = kept.length > 0 && ['', '.', '..'].includes(segments.at(-1) ?? '');
  return `/${kept.join('/')}${isFolder ? '/' : ''}`;
}

/** As a server reads it that decodes it often; null where that has no end that is looked for. */
function decodedFully(path: string): string | null {
  let text = path;
  for (let round = 0; round < 4; round++) {
    const next = text.replace(/%([\da-fA-F]{2})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (next === text) return text;
    text = next;
  }
  return null;
}
