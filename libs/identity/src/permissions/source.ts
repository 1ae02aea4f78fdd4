import { Fault } from '@sluice/core';
import type { PermissionSource, PermissionSourceSettings } from '@sluice/core';
import { usersInFile } from './file.js';
import { lookupOverHttp } from './http.js';
import { usersInTable } from './table.js';

export interface SourceParts {
  /** A variable's value, or what the file holds that `<variable>_FILE` names. */
  secret?(variable: string): string | undefined;
  /** The database of the ledger, where a table of users is; null or absent where the ledger is a file. */
  readonly databaseUrl?: string | null;
}

/** The source that the configuration names. */
export function permissionSource(settings: PermissionSourceSettings, given: SourceParts): PermissionSource {
  const { find, where } = sourceOf(settings, given);
  return {
    find: async (question) => {
      try {
        return await find(question);
      } catch (error) {
        if (error instanceof Fault) throw error;
        const why = error instanceof Error ? error.message : String(error);
        throw new Fault(
          'identity_unreachable',
          `The permissions of a caller cannot be had from ${where}: ${why}.`,
          true,
        );
      }
    },
  };
}

function sourceOf(
  settings: PermissionSourceSettings,
  given: SourceParts,
): PermissionSource & { readonly where: string } {
  switch (settings.kind) {
    case 'file':
      return { ...usersInFile(settings.path), where: `the file ${settings.path}` };
    case 'table':
      return { ...usersInTable(settings.table, given.databaseUrl ?? null), where: `the table ${settings.table}` };
    case 'http':
      return { ...lookupOverHttp(settings, given.secret ?? (() => undefined)), where: settings.url };
  }
}
