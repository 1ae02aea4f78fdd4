import type { Gateway } from './gateway';

/** From the variables that Vite takes along, or those of a gateway on this machine. */
const {
  VITE_SLUICE_URL = 'http://127.0.0.1:8091',
  VITE_SLUICE_TOKEN,
  VITE_SLUICE_GROUP = 'read-only',
} = import.meta.env as Readonly<Record<string, string | undefined>>;

export const gateway: Gateway = { url: VITE_SLUICE_URL, token: VITE_SLUICE_TOKEN };
export const group: readonly string[] = VITE_SLUICE_GROUP.split(',');
