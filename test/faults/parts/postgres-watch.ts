import type { Seen } from './kafka-watch.ts';
import type { Watch } from './tcp-proxy.ts';

/** As the protocol ends names: the table's begins with it. */
const claimName = 'sluice_claim\0';

/**
 * The ledger's statements by their name, or a part of their text that no other has; the keys stand beside them in
 * quotes, so a claim tells what it is for.
 */
const statements: readonly (readonly [name: string, ...texts: string[]])[] = [
  ['claim of an effect', claimName, '"effect/'],
  ['claim of a turn', claimName, '"turn/'],
  ['claim of a request', claimName, '"request/'],
  ['decision of a call', claimName, '"call/decided/'],
  ['claim of an end', claimName, '"end/'],
  ['outcome', 'set value = coalesce('],
];

/**
 * Tells of the ledger's statements on a connection and of what is answered to them: `outcome request`, `outcome
 * response`, ….
 */
export function watchPostgres(seen: Seen): Watch {
  return (clientPort) => {
    let asked: string | undefined;
    return {
      toServer: (piece) => {
        const found = statements.find(([, ...texts]) => texts.every((text) => piece.includes(text)));
        asked = found?.[0] ?? asked;
        return found === undefined || !seen(`${found[0]} request`, clientPort);
      },
      toClient: () => {
        const answered = asked;
        asked = undefined;
        return answered === undefined || !seen(`${answered} response`, clientPort);
      },
    };
  };
}
