import { ref } from '../../record-schemas.js';
import { text, textOrNull, time, timeOrNull, list, object } from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

/** Who asks, and how one signs in. */
export function consoleSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    Me: object('The caller.', {
      tenant: text('The tenant.'),
      user: text('The actor, as `user:<id>` or `service:<name>`.'),
      on_behalf_of: textOrNull('The subject that the actor asks for.'),
      identity: text('How callers are known: `none`, `jwt` or `api-keys`.'),
      groups: list(text('A group.'), 'The groups that the caller may ask for; `*` is all.'),
      connections: list(text('A connection.'), 'The connections that it may use.'),
      is_operator: { type: 'boolean', description: 'Whether it sees what is of all tenants.' },
      is_approver: { type: 'boolean', description: 'Whether policy names it an approver.' },
      is_auditor: { type: 'boolean', description: 'Whether it may verify and export the audit.' },
      expires_at: timeOrNull('When its credential ends; null where it does not.'),
    }),
    ConsoleAbout: object('What a page has to know before it knows a caller.', {
      version: text('The version of this program.'),
      identity: text('How callers are known: `none`, `jwt` or `api-keys`.'),
      sign_in: list(
        { enum: ['local', 'oidc', 'token', 'api_key'] },
        'How one signs in, the best way first: by a one-time link, at the issuer, or with a pasted JWT, local secret or API key.',
      ),
      oidc: {
        anyOf: [ref('ConsoleClient'), { type: 'null' }],
        description: 'The client to sign in with at the issuer; null where there is none.',
      },
      bus: { enum: ['embedded', 'kafka'], description: 'Where the log is.' },
      docs: text('Where the description of the routes is.'),
      command: text('How the command line is called where the gateway was started, such as `npx sluice`.'),
      start: text('What starts the services there, such as `npm start`.'),
    }),
    ConsoleClient: object('The console as a public client of the issuer.', {
      issuer: text('The address of the issuer.'),
      client_id: text('The id of the client.'),
      scopes: list(text('A scope.'), 'The scopes to ask for.'),
      resource: textOrNull('For whom the access token is to be (RFC 8707); null where that is not to be asked for.'),
    }),
    SignedIn: object('What a page holds that signed in.', {
      token: text('Stands for the local secret, as a bearer token.'),
      expires_at: time('When the token ends.'),
      session: textOrNull('To renew the token with; null for a page that gave no key.'),
      session_expires_at: timeOrNull('When the session ends.'),
    }),
  };
}
