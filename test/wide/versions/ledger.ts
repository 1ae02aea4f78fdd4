import pg from 'pg';
import type { Cluster, Role } from '../../cluster/cluster.js';
import type { Program, Run } from '../../harness/program.js';

/** What a former version says of the ledger of a newer one. */
const tooNew = /The ledger’s database .* was used by a newer version \(its format is (\d+), this version knows (\d+)\)/;

/**
 * Starts a service of a former version, to which the ledger is given back as docs/operations.md#upgrades says where it
 * refuses it. Returns the formats that the refusal named.
 */
export async function startFormer(
  cluster: Cluster,
  role: Role,
  run: Run,
): Promise<{ readonly program: Program; readonly refused: readonly [string, string] | null }> {
  try {
    return { program: await cluster.start(role, {}, run), refused: null };
  } catch (error) {
    const [, format, known] = tooNew.exec(String(error)) ?? [];
    if (format === undefined || known === undefined) throw error;
    const { DATABASE_URL: connectionString, SLUICE_PREFIX: prefix } = cluster.variables;
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      const table = `${pg.escapeIdentifier(`sluice_${prefix}`)}.sluice_ledger_migrations`;
      await client.query(`delete from ${table} where version > $1`, [known]);
    } finally {
      await client.end();
    }
    return { program: await cluster.start(role, {}, run), refused: [format, known] };
  }
}
