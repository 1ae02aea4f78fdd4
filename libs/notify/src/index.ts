export { isLinkSecret, linkIn, linkToken } from './mail/link-token.js';
export type { MailLink } from './mail/link-token.js';
export { DeliveryLog, latestDeliveries } from './stored/delivery-log.js';
export {
  mostStored,
  newSubscriptionId,
  newSubscriptionSecret,
  receiverOf,
  StoredSubscriptions,
  withNewSecret,
} from './stored/subscriptions.js';
export type { StoredSubscription } from './stored/subscriptions.js';
export { SlackApi, SlackError } from './slack/api.js';
export { endedMessage, noteView, reasonView, trialMessage, waitingMessage } from './slack/blocks.js';
export type { SlackMessage } from './slack/blocks.js';
export { buttonIn, decisionActions, dialogIn, reasonDialog, reasonField } from './slack/button.js';
export type { ButtonValue } from './slack/button.js';
export { isSignedBySlack } from './slack/signature.js';
export type { SlackRequest } from './slack/signature.js';
