import type { AskedApproval } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { waitingApprovals } from '../../data/approvals.js';

/** How many notes of decisions made elsewhere stand at a time. */
const mostTold = 3;

/** The calls that wait, and those that stopped waiting though this page did not decide on them. */
export function useInbox() {
  const { data, error, refetch } = useQuery({ ...waitingApprovals(), refetchInterval: 2_000 });
  const known = useRef<readonly AskedApproval[]>([]);
  const own = useRef(new Set<string>());
  const [gone, setGone] = useState<readonly AskedApproval[]>([]);
  useEffect(() => {
    if (data === undefined) return;
    const now = data.map(({ approval }) => approval);
    const ids = new Set(now.map(({ approval_id: id }) => id));
    const left = known.current.filter(({ approval_id: id }) => !ids.has(id) && !own.current.has(id));
    known.current = now;
    if (left.length > 0) setGone((before) => [...left, ...before].slice(0, mostTold));
  }, [data]);
  const forget = useCallback((id: string) => setGone((before) => before.filter((each) => each.approval_id !== id)), []);
  /** Notes that this page decided on the call. */
  const decided = useCallback((id: string) => void own.current.add(id), []);
  return { waiting: data, error, again: () => void refetch(), gone, forget, decided };
}
