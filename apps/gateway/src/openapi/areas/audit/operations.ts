import { auditParameters } from '../../../audit/audit-query.js';
import { attestationParameters, exportParameters } from '../../../audit/proof-parameters.js';
import { letterParameters } from '../../../dead-letters/letter-query.js';
import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import {
  listAuditExample,
  verifyAuditExample,
  exportLogExample,
  attestExample,
  listDeadLettersExample,
  readDeadLetterExample,
  redriveExample,
} from './examples.js';

/** The audit, and dead letters. */
export const auditOperations: readonly Operation[] = [
  {
    ...{
      id: 'listAudit',
      client: 'audit.list',
      who: 'caller',
      method: 'get',
      path: '/v1/audit',
      tag: 'Audit',
      summary: 'List the audit of the tenant',
    },
    description:
      'The newest first. Details of other callers’ entries are for operators. The audit follows the log, so an entry is there a moment later.',
    query: auditParameters,
    answers: {
      200: {
        meaning: 'A page of entries.',
        json: 'AuditList',
        others: { 'text/csv': 'The same, with a line of column names and times as ISO 8601.' },
        headers: { link: 'The address of the next page, as `rel="next"`; absent on the last one.' },
      },
    },
    example: listAuditExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'verifyAudit',
      client: 'audit.verify',
      isRepeatable: true,
      who: 'operator',
      method: 'post',
      path: '/v1/audit/verify',
      tag: 'Audit',
      summary: 'Verify the audit',
    },
    description:
      'Recomputes every chain of the audit, of all tenants, and names each record that was changed, dropped, inserted or moved. For operators. It reads the whole log, and ends with its reader.',
    answers: {
      200: {
        meaning: 'What was found.',
        json: 'AuditVerification',
        others: {
          'text/event-stream':
            'How far it is, each finding and the end, as data of the assistant transport format (docs/http.md).',
        },
      },
    },
    example: verifyAuditExample,
    refusals: [400, 401, 403, 413, 415, 500, 503],
  },
  {
    ...{
      id: 'exportLog',
      client: null,
      who: 'operator',
      method: 'get',
      path: '/v1/audit/export',
      tag: 'Audit',
      summary: 'Export the records of a span',
    },
    description:
      'The file of `sluice export`: records of all topics, without credentials, with all configurations and the schemas. For operators.',
    query: exportParameters,
    answers: { 200: { meaning: 'The file.', others: { 'application/zstd': 'What `sluice replay` reads.' } } },
    example: exportLogExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'attest',
      client: 'audit.attest',
      who: 'operator',
      method: 'get',
      path: '/v1/audit/attestation',
      tag: 'Audit',
      summary: 'Attest the tool calls of a span',
    },
    description:
      'A signed report that others verify without the log, as `sluice attest` prints it. For operators, of a gateway that has the key of the audit.',
    query: attestationParameters,
    answers: json('Attestation', 'The report.'),
    example: attestExample,
    refusals: [400, 401, 403, 409, 500, 503],
  },
  {
    ...{
      id: 'listDeadLetters',
      client: 'deadLetters.list',
      who: 'operator',
      method: 'get',
      path: '/v1/dead-letters',
      tag: 'Dead letters',
    },
    summary: 'List dead letters',
    description: 'Records of all tenants that a service could not handle, the newest first. For operators.',
    query: letterParameters,
    answers: json('DeadLetterList', 'A page of dead letters.'),
    example: listDeadLettersExample,
    refusals: [400, 401, 403, 500, 503],
  },
  {
    ...{
      id: 'readDeadLetter',
      client: 'deadLetters.get',
      who: 'operator',
      method: 'get',
      path: '/v1/dead-letters/{id}',
      tag: 'Dead letters',
    },
    summary: 'Read a dead letter',
    description: 'What it holds, without credentials and signatures, and what a redrive would do. For operators.',
    places: { id: 'Names the dead letter.' },
    answers: json('DeadLetter', 'The dead letter.'),
    example: readDeadLetterExample,
    refusals: [401, 403, 404, 500, 503],
  },
  {
    ...{
      id: 'redrive',
      client: 'deadLetters.redrive',
      who: 'operator',
      method: 'post',
      path: '/v1/dead-letters/{id}/redrive',
      tag: 'Dead letters',
    },
    summary: 'Redrive a dead letter',
    description:
      'Puts its record on the log again, once, as a new attempt of its run. A conflict says why that cannot be, or who did it before. For operators.',
    places: { id: 'Names the dead letter.' },
    answers: json('Redriven', 'The record is on the log.'),
    example: redriveExample,
    refusals: [400, 401, 403, 404, 409, 413, 415, 500, 503],
  },
];
