import type { SchemaRegistry } from '@sluice/contracts';
import { patiently } from './store.js';
import type { Store } from './store.js';

/** Schema numbers in a table beside the log. A text that is known already keeps its number under every subject. */
export function tableRegistry(store: Store): SchemaRegistry {
  const { database } = store;
  const known = database.prepare('SELECT id FROM schemas WHERE subject = ? AND schema = ?');
  const numbered = database.prepare('SELECT id FROM schemas WHERE schema = ? LIMIT 1');
  const next = database.prepare('SELECT coalesce(max(id), 0) + 1 AS id FROM schemas');
  const insert = database.prepare('INSERT INTO schemas (subject, id, schema) VALUES (?, ?, ?)');
  const find = database.prepare('SELECT schema FROM schemas WHERE id = ? LIMIT 1');

  return {
    async register(subject, schema) {
      const old = await patiently('The log could not be read', () => known.get(subject, schema));
      if (old !== undefined) return old['id'] as number;
      return store.write('powerLoss', () => {
        const again = known.get(subject, schema);
        if (again !== undefined) return again['id'] as number;
        const id = (numbered.get(schema) ?? next.get())?.['id'] as number;
        insert.run(subject, id, schema);
        return id;
      });
    },
    async find(id) {
      const row = await patiently('The log could not be read', () => find.get(id));
      return row?.['schema'] as string | undefined;
    },
  };
}
