import { texts } from '../../data/search.js';

const tabs = ['waiting', 'history', 'standing'] as const;
type ApprovalTab = (typeof tabs)[number];

interface ApprovalSearch {
  /** By default what waits, and for others than approvers what was decided. */
  readonly tab?: ApprovalTab;
  /** Names the one that is open. */
  readonly approval?: string;
}

export const approvalSearch = (search: Readonly<Record<string, unknown>>): ApprovalSearch => {
  const tab = tabs.find((one) => one === search['tab']);
  return { ...(tab === undefined ? {} : { tab }), ...texts(search, ['approval']) };
};
