import { timeForms } from '../times.js';

const span = {
  since: `Taken by the log at or after this time: ${timeForms}.`,
  until: 'Taken before this time.',
} as const;

/** The parameters of `GET /v1/audit/attestation`. */
export const attestationParameters = {
  ...span,
  session_id: 'The session whose calls are shown; those of others stand there as hashes.',
} as const;

/** The parameters of `GET /v1/audit/export`. */
export const exportParameters = {
  ...span,
  session_id: 'The records of this session alone.',
  tenant: 'The records of this tenant’s runs alone.',
} as const;
