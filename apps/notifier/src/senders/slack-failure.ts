import { SlackError } from '@sluice/notify';
import type { SlackChannel } from '@sluice/core';
import { DeliveryError } from './sender.js';
import type { DeliveryFailure } from './sender.js';

type Named = Pick<SlackChannel, 'id' | 'channel' | 'tokenEnv'>;

/** Why Slack did not take it, and what to change, where its code says that. What is no SlackError stays so. */
export function slackFailure(error: unknown, named: Named): unknown {
  if (!(error instanceof SlackError)) return error;
  const remedy = remedyOf(error.code, named);
  const message = remedy === null ? error.message : `${error.message} ${remedy}`;
  return new DeliveryError(failureOf(error.code), message, { cause: error });
}

function failureOf(code: string): DeliveryFailure {
  if (code === 'http_429' || code === 'ratelimited' || code === 'rate_limited') return 'limited';
  if (code === 'timeout' || code === 'unreachable' || code === 'not_public') return code;
  return /^http_5|^no_json$|^internal_error$|^fatal_error$/.test(code) ? 'failed' : 'refused';
}

const history = 'channels:history (groups:history for a private channel, im:history for a person)';

/** By the codes that Slack documents. */
function remedyOf(code: string, { id, channel, tokenEnv }: Named): string | null {
  switch (code) {
    case 'invalid_auth':
    case 'not_authed':
    case 'account_inactive':
    case 'token_revoked':
    case 'token_expired':
    case 'not_allowed_token_type':
      return `Put the bot token (xoxb-…) of an app that is installed into ${tokenEnv}.`;
    case 'channel_not_found':
      return `Write the id of a channel, such as C0123456789, as notify.slack.${id}.channel, and invite the app to it.`;
    case 'not_in_channel':
      return `Invite the app to the channel ${channel}.`;
    case 'is_archived':
      return `Name a channel that is not archived as notify.slack.${id}.channel.`;
    case 'missing_scope':
    case 'no_permission':
      return `Give the app the bot scopes chat:write and ${history}, and install it again.`;
    case 'restricted_action':
      return `Let the app post in the channel ${channel}: its settings do not.`;
    default:
      return null;
  }
}
