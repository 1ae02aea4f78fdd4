import { json } from '../../operation.js';
import type { Operation } from '../../operation.js';
import { readMeExample, readConsoleExample, signInExample, renewSignInExample } from './examples.js';

/** Who asks, and how one signs in to the console. */
export const consoleOperations: readonly Operation[] = [
  {
    ...{
      id: 'readMe',
      client: 'callers.me',
      who: 'caller',
      method: 'get',
      path: '/v1/me',
      tag: 'Console',
      summary: 'See who one is',
    },
    description: 'The caller as its credential says, what it may ask for and decide, and when the credential ends.',
    answers: json('Me', 'The caller.'),
    example: readMeExample,
    refusals: [401, 403, 500, 503],
  },
  {
    ...{
      id: 'readConsole',
      client: 'console.get',
      who: 'anyone',
      method: 'get',
      path: '/v1/console',
      tag: 'Console',
      summary: 'Read how one signs in',
    },
    description:
      'What a page has to know before it knows a caller: the version, and by which credentials one signs in.',
    answers: json('ConsoleAbout', 'How one signs in.'),
    example: readConsoleExample,
    refusals: [500, 503],
  },
  {
    ...{
      id: 'signIn',
      client: 'console.signIn',
      who: 'anyone',
      method: 'post',
      path: '/v1/console/sign-in',
      tag: 'Console',
      summary: 'Sign in by a one-time link',
    },
    description:
      'Where no identity is configured: the code of a link of `sluice console`, which counts once, becomes a token that stands for the local secret.',
    body: 'SignIn',
    answers: json('SignedIn', 'The token.'),
    example: signInExample,
    refusals: [400, 401, 403, 413, 415, 429, 500, 503],
  },
  {
    ...{
      id: 'renewSignIn',
      client: 'console.renew',
      who: 'anyone',
      method: 'post',
      path: '/v1/console/renew',
      tag: 'Console',
      summary: 'Renew a sign-in',
    },
    description: 'A new token for the page that signed in, by a signature with the key that its browser keeps.',
    body: 'SignInRenewal',
    answers: json('SignedIn', 'The token.'),
    example: renewSignInExample,
    refusals: [400, 401, 403, 413, 415, 429, 500, 503],
  },
];
