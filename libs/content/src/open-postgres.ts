import type { ContentStore } from '@sluice/core';
import type { PostgresContentOptions } from './postgres/open.js';

/** As `postgres/open.ts` says. The client of PostgreSQL is loaded here, so that an embedded store starts without it. */
export async function openPostgresContent(options: PostgresContentOptions): Promise<ContentStore> {
  const postgres = await import('./postgres/open.js');
  return postgres.openPostgresContent(options);
}
