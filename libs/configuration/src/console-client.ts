import { quote } from '@sluice/core';
import type { ConsoleClient } from '@sluice/core';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';

/** What an issuer is asked for where the file does not say. */
const defaultScopes = ['openid'];

/** `identity.console`: the public client by which people sign in to the console at the issuer. */
export function readConsoleClient(identity: Section, credentialIssuer: string | null): ConsoleClient | null {
  if (!identity.has('console')) return null;
  const section = identity.section('console').closed(configurationKeys['identity.console']);
  const whichClient = 'the id of a public client that the issuer knows, with the address of the gateway to return to';
  const clientId = section.text('client_id', whichClient);
  if (!section.has('client_id')) section.problem(section.at('client_id'), 'nothing', whichClient);
  const own = section.address('issuer');
  const issuer = own ?? credentialIssuer ?? '';
  if (!section.has('issuer') && credentialIssuer !== null && !isAddress(credentialIssuer))
    section.problem(
      section.at('issuer'),
      `nothing, and ${quote(credentialIssuer)} as \`identity.issuer\`, which is no address`,
      'the address of the issuer, under which its `.well-known/openid-configuration` is',
    );
  const scopes = section.names('scopes', 'a list of the scopes to ask for') ?? defaultScopes;
  const resource = section.text('resource', 'for whom the access token is to be, as the issuer names it');
  return { clientId: clientId ?? '', issuer, scopes, resource };
}

function isAddress(text: string): boolean {
  return /^https?:/i.test(text) && URL.canParse(text);
}
