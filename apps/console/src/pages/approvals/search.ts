import { texts } from '../../data/search.js';

interface ApprovalSearch {
  /** By default what waits, and for others than approvers what was decided. */
  readonly tab?: 'waiting' | 'history';
  /** Names the one that is open. */
  readonly approval?: string;
}

export const approvalSearch = (search: Readonly<Record<string, unknown>>): ApprovalSearch => ({
  ...(search['tab'] === 'waiting' || search['tab'] === 'history' ? { tab: search['tab'] } : {}),
  ...texts(search, ['approval']),
});
