import { readLocalSecret } from '@sluice/host';
import type { Runtime } from '@sluice/host';

/** What a program of this machine sends that has the local secret, for routes that need it without an identity. */
export function localHeaders({ environment }: Pick<Runtime, 'environment'>): { readonly authorization: string } {
  return { authorization: `Bearer ${readLocalSecret(environment) ?? ''}` };
}
