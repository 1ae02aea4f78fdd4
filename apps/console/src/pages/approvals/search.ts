import { oneOf, texts } from '../../data/search.js';

const tabs = ['waiting', 'history'] as const;

/** Which part of the inbox is shown, and which approval is open. */
export const approvalSearch = (search: Readonly<Record<string, unknown>>) => {
  const tab = oneOf(search, 'tab', tabs);
  return { ...(tab === 'waiting' ? {} : { tab }), ...texts(search, ['approval']) };
};
