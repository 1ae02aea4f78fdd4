import { at } from '../../example.js';
import type { Example } from '../../example.js';

export const listAuditExample: Example = {
  query: { kind: 'run_ended', since: '1h' },
  answers: {
    200: {
      entries: [
        {
          at: at + 900,
          kind: 'run_ended',
          user: 'user:ann',
          on_behalf_of: null,
          request_id: 'ask-1',
          session_id: 's-1',
          tool: null,
          outcome: 'answer',
          authentic: true,
          config_version: 'c-4f2a9d1c7b3e8056',
          chain: 'agent.responses/0',
          sequence: 3,
          source_offset: 2,
          hash: '7888',
          details: { actor: 'user:ann', tenant: 'acme', outcome: 'answer' },
        },
      ],
      next_cursor: null,
    },
  },
};

const deadLetter = {
  id: '0-7',
  topic: 'agent.steps',
  partition: 0,
  offset: 42,
  service: 'filter',
  session_id: 's-1',
  code: 'undecodable',
  reason: 'The bytes are no record.',
  attempts: 1,
  appended_at: at,
  failed_at: at + 30,
  redriven: null,
};

export const listDeadLettersExample: Example = {
  query: { topic: 'agent.steps', limit: 20 },
  answers: {
    200: {
      dead_letters: [deadLetter],
      next_cursor: null,
    },
  },
};

export const readDeadLetterExample: Example = {
  places: { id: '0-7' },
  answers: {
    200: {
      ...deadLetter,
      headers: {},
      record: null,
      unreadable: 'The bytes are no record.',
      redrive: { possible: false, topic: null, meaning: 'It still cannot be read.' },
    },
  },
};

export const redriveExample: Example = {
  places: { id: '0-7' },
  answers: { 200: { id: '0-7', status: 'redriven', topic: 'agent.steps', meaning: 'The run goes on from there.' } },
};

export const verifyAuditExample: Example = {
  answers: {
    200: {
      ok: false,
      found: 1,
      chains: [
        {
          chain: 'agent.steps/0',
          entries: 41,
          sequence: 42,
          head: '9f2b',
          sealed: 40,
          checkpoints: 1,
          beyond_last_checkpoint: 2,
          waiting: 0,
          waiting_since: null,
        },
      ],
      findings: [
        {
          kind: 'dropped',
          message: 'Records that were written are not there.',
          what: '',
          chain: 'agent.steps/0',
          entries: { first: 17, last: 17 },
          place: null,
          source_offset: null,
          runs: [],
          differences: [],
        },
      ],
      sources: { compared: 41, gone: 0, waiting: 0, not_compared: null },
    },
  },
};

export const exportLogExample: Example = { query: { since: '24h', tenant: 'acme' }, answers: {} };

export const attestExample: Example = {
  query: { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z', session_id: 's-1' },
  answers: {
    200: {
      type: 'sluice-attestation',
      version: 1,
      from: at,
      to: at + 86_400_000,
      session: 's-1',
      signer: 'software',
      chains: [],
      signature: 'eyJhbGciOiJFZERTQSJ9.eyJhdHRlc3RhdGlvbiI6IjVlMWYifQ.Zq0w',
      quote: null,
    },
  },
};
