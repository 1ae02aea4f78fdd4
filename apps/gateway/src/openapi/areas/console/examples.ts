import { programVersion } from '@sluice/core';
import { at } from '../../example.js';
import type { Example } from '../../example.js';

export const readMeExample: Example = {
  answers: {
    200: {
      tenant: 'local',
      user: 'user:local',
      on_behalf_of: null,
      identity: 'none',
      groups: ['*'],
      connections: ['*'],
      is_operator: true,
      is_approver: true,
      is_auditor: true,
      expires_at: at + 43_200_000,
    },
  },
};

export const readConsoleExample: Example = {
  answers: {
    200: {
      version: programVersion,
      identity: 'jwt',
      sign_in: ['oidc', 'token', 'api_key'],
      oidc: { issuer: 'https://login.example', client_id: 'sluice-console', scopes: ['openid'], resource: null },
      bus: 'kafka',
      docs: '/docs',
      command: 'sluice',
      start: 'sluice start',
    },
  },
};

const signedIn = {
  token: 'console_eyJleHBpcmVzQXQiOjE3NjcyNjg4MDAwMDB9.nWf5S2V8',
  expires_at: at + 43_200_000,
  session: 'session_eyJleHBpcmVzQXQiOjE3Njk4MTc2MDAwMDB9.Zq0wY7t1',
  session_expires_at: at + 2_592_000_000,
};

export const signInExample: Example = {
  body: {
    code: 'sign-in_eyJleHBpcmVzQXQiOjE3NjcyMjYyMDAwMDB9.dG9rZW4x',
    public_key: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
  },
  answers: { 200: signedIn },
};

export const renewSignInExample: Example = {
  body: { session: signedIn.session, at: at + 3_600_000, signature: 'MEQCIGsxNf2cs1yPqzFDbXqLpXG1' },
  answers: { 200: signedIn },
};
