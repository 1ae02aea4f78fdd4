import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Shell } from './layout/shell.js';
import { Home } from './pages/home/home.js';
import { approvalSearch } from './pages/approvals/search.js';
import { auditSearch } from './pages/audit/search.js';
import { letterSearch } from './pages/dead-letters/search.js';
import { policySearch } from './pages/policy/search.js';
import { runSearch } from './pages/run/search.js';
import { runsSearch } from './pages/runs/search.js';
import { toolsSearch } from './pages/tools/search.js';
import { Page } from './ui/page.js';
import { Empty, Loading, RequestProblem } from './ui/states.js';

/** Every page by its address. What a page is asked for stands in the address, so a link shows the same to others. */
const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage });
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

const routes = [
  createRoute({ ...at('/'), component: Home }),
  createRoute({
    ...at('/runs'),
    validateSearch: runsSearch,
    component: lazyRouteComponent(() => import('./pages/runs/runs.js'), 'Runs'),
  }),
  createRoute({
    ...at('/runs/$requestId'),
    validateSearch: runSearch,
    component: lazyRouteComponent(() => import('./pages/run/run.js'), 'RunPage'),
  }),
  createRoute({
    ...at('/approvals'),
    validateSearch: approvalSearch,
    component: lazyRouteComponent(() => import('./pages/approvals/approvals.js'), 'Approvals'),
  }),
  createRoute({
    ...at('/approvals/$approvalId'),
    component: lazyRouteComponent(() => import('./pages/approvals/approval.js'), 'ApprovalPage'),
  }),
  createRoute({
    ...at('/policy'),
    validateSearch: policySearch,
    component: lazyRouteComponent(() => import('./pages/policy/policy.js'), 'Policy'),
  }),
  createRoute({
    ...at('/tools'),
    validateSearch: toolsSearch,
    component: lazyRouteComponent(() => import('./pages/tools/tools.js'), 'Tools'),
  }),
  createRoute({
    ...at('/tools/$tool'),
    component: lazyRouteComponent(() => import('./pages/tools/tool.js'), 'ToolPage'),
  }),
  createRoute({
    ...at('/servers'),
    component: lazyRouteComponent(() => import('./pages/servers/servers.js'), 'Servers'),
  }),
  createRoute({
    ...at('/schedules'),
    component: lazyRouteComponent(() => import('./pages/schedules/schedules.js'), 'Schedules'),
  }),
  createRoute({
    ...at('/notifications'),
    component: lazyRouteComponent(() => import('./pages/notifications/notifications.js'), 'Notifications'),
  }),
  createRoute({
    ...at('/audit'),
    validateSearch: auditSearch,
    component: lazyRouteComponent(() => import('./pages/audit/audit.js'), 'Audit'),
  }),
  createRoute({
    ...at('/dead-letters'),
    validateSearch: letterSearch,
    component: lazyRouteComponent(() => import('./pages/dead-letters/dead-letters.js'), 'DeadLetters'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  scrollRestoration: true,
  // What a page does not know of its address is no filter either.
  search: { strict: true },
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="Error">
      <RequestProblem error={error instanceof Error ? error : new Error(String(error))} again={reset} />
    </Page>
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NoSuchPage() {
  return (
    <Page title="No such page">
      <Empty title="There is no page at this address.">
        <p>The menu leads to all pages.</p>
      </Empty>
    </Page>
  );
}
