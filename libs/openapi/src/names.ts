import { createHash } from 'node:crypto';

/** Characters of a tool’s id beside those of its server and its own name: `api__<server>__<name>` has 64 at most. */
const idCharacters = 64 - 'api____'.length;
const leastCharacters = 16;

/** Characters that model providers take in a name. */
function plainName(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/_{2,}/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** `get /pets/{id}` is `get_pets_id`. */
export function nameOf(operationId: string, method: string, path: string): string {
  const name = plainName(operationId);
  return name === '' ? plainName(`${method.toLowerCase()} ${path}`) || method.toLowerCase() : name;
}

/**
 * Names of which no two are equal, in whatever case they are written, and none is longer than an id of the server has
 * room for. A name that must change ends with a hash of method and path, so that other operations change none.
 */
export function uniqueNames(
  operations: readonly { readonly name: string; readonly method: string; readonly path: string }[],
  server: string,
): readonly string[] {
  const most = Math.max(leastCharacters, idCharacters - server.length);
  const sharing = Map.groupBy(operations, ({ name }) => name.toLowerCase());
  return operations.map(({ name, method, path }) => {
    const isAlone = sharing.get(name.toLowerCase())?.length === 1;
    if (isAlone && name.length <= most) return name;
    const hash = createHash('sha256').update(`${method} ${path}`).digest('hex').slice(0, 6);
    return `${name.slice(0, most - 7)}_${hash}`;
  });
}
