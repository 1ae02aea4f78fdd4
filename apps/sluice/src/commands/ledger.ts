import { parseArgs } from 'node:util';
import { requireBelonging } from '@sluice/host';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { StoredLedger } from '@sluice/ledger';
import { withStores } from '../system/with-stores.js';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice ledger check [--json]
  Says whether the ledger belongs to the log. Services do not work with one that was emptied, or that belongs to another log.
sluice ledger adopt [--json]
  Makes the ledger belong to this log from now on, whatever it belonged to: after a move to another cluster, or where one of the
  two is lost for good. Stop the executors first: what was under way may be done twice. --json prints {status}: belongs, or adopted.
sluice ledger spread [--json]
  Lets the databases of SLUICE_LEDGER hold claims too: each new claim goes to one of them or of DATABASE_URL by its key, and those that
  were taken before are found where they are. Every process must name them first; one that does not takes no claims from then on. Again,
  it goes on where it was interrupted. A database that holds claims cannot be taken out. --json prints {added}: names.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { environment, write } = surroundings;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [action, ...words] = positionals;
  if (action !== 'check' && action !== 'adopt' && action !== 'spread')
    throw new Error(`${sayWhat('the ledger', action)}\n${usage}`);
  refuseSurplus({ values, words }, { taken: ['json'], words: 0 }, usage);
  return withStores(surroundings, async ({ bus, ledger }) => {
    if (action === 'spread') return spread(ledger, values.json, surroundings);
    if (action === 'adopt') await ledger.belonging.change((await bus.identity()).id);
    else await requireBelonging({ bus, ledger }, environment);
    if (values.json) printJson(surroundings, { status: action === 'adopt' ? 'adopted' : 'belongs' });
    else
      write(action === 'adopt' ? 'The ledger belongs to this log from now on.\n' : 'The ledger belongs to the log.\n');
    return 0;
  });
}

async function spread({ spreading }: StoredLedger, json: boolean, surroundings: CommandContext): Promise<number> {
  if (spreading === null)
    throw new Error(
      'The ledger is a file. It is spread over databases where DATABASE_URL and SLUICE_LEDGER name some.',
    );
  const added = await spreading.spread();
  const names = (await spreading.list()).map(({ name }) => name);
  if (json) printJson(surroundings, { added });
  else if (added.length === 0) surroundings.write(`Nothing to add: claims are in ${names.join(', ')}.\n`);
  else surroundings.write(`Added ${added.join(', ')}. Claims are in ${names.join(', ')}.\n`);
  return 0;
}
