import { Link, Outlet } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLiveApprovals, waitingApprovals } from '../data/approvals.js';
import { useIsAway } from '../data/reachability.js';
import { session } from '../session/session.js';
import { useSignedIn } from '../session/session-provider.js';
import { Button } from '../ui/button.js';
import icon from '../icon.svg';
import css from './shell.module.css';
import { ThemeButton } from './theme.js';

interface Item {
  readonly to: string;
  readonly name: string;
  readonly isForOperators?: boolean;
}

const items: readonly Item[] = [
  { to: '/', name: 'Home' },
  { to: '/runs', name: 'Runs' },
  { to: '/approvals', name: 'Approvals' },
  { to: '/policy', name: 'Policy', isForOperators: true },
  { to: '/tools', name: 'Tools' },
  { to: '/servers', name: 'Servers', isForOperators: true },
  { to: '/schedules', name: 'Schedules' },
  { to: '/notifications', name: 'Notifications', isForOperators: true },
  { to: '/audit', name: 'Audit' },
  { to: '/dead-letters', name: 'Dead letters', isForOperators: true },
];

/** What stands around every page: where one can go, who one is, and whether the gateway answers. */
export function Shell() {
  const { me, information } = useSignedIn();
  const [isOpen, setIsOpen] = useState(false);
  const isAway = useIsAway();
  return (
    <div className={css['shell']}>
      <a className={css['skip']} href="#content">
        Skip to the page
      </a>
      <header className={css['side']}>
        <div className={css['brand']}>
          <Link to="/" className={css['home']}>
            <img src={icon} alt="" width={26} height={26} />
            <span>Sluice</span>
          </Link>
          <div className={css['menuButton']}>
            <Button isSmall aria-expanded={isOpen} aria-controls="navigation" onPress={() => setIsOpen(!isOpen)}>
              Menu
            </Button>
          </div>
        </div>
        <div className={`${css['rest']} ${isOpen ? css['open'] : ''}`} id="navigation">
          <nav aria-label="Pages">
            <ul className={css['list']}>
              {items
                .filter(({ isForOperators }) => !isForOperators || me.is_operator)
                .map(({ to, name }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      className={css['link']}
                      activeProps={{ className: css['active'] ?? '' }}
                      activeOptions={{ exact: to === '/', includeSearch: false }}
                      onClick={() => setIsOpen(false)}
                    >
                      {name}
                      {to === '/approvals' && <WaitingCount />}
                    </Link>
                  </li>
                ))}
            </ul>
          </nav>
          <div className={css['foot']}>
            <div className={css['who']} title={`Tenant ${me.tenant}`}>
              <strong>{me.user}</strong>
              <span>{me.is_operator ? `operator · ${me.tenant}` : me.tenant}</span>
            </div>
            <div className={css['buttons']}>
              <ThemeButton />
              <Button isSmall onPress={() => void session.forget()}>
                Sign out
              </Button>
            </div>
            <div className={css['version']}>
              Sluice {information.version} · {information.bus} log ·{' '}
              <a href="/docs" target="_blank" rel="noreferrer">
                API
              </a>
            </div>
          </div>
        </div>
      </header>
      <main id="content" className={css['content']} tabIndex={-1}>
        {isAway && (
          <div className={css['away']} role="alert">
            The gateway does not answer. What is shown may be old; this page goes on by itself once it is back.
          </div>
        )}
        <Outlet />
      </main>
    </div>
  );
}

function WaitingCount() {
  const { me } = useSignedIn();
  const { data } = useQuery(waitingApprovals());
  useLiveApprovals(me.is_approver);
  const waiting = data?.length ?? 0;
  if (waiting === 0) return null;
  return (
    <span className={css['count']}>
      {waiting}
      <span className="visually-hidden"> waiting</span>
    </span>
  );
}
