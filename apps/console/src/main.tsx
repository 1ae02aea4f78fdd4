import './styles/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nProvider, RouterProvider as AriaRouterProvider } from 'react-aria-components';
import { queries } from './data/queries.js';
import { router } from './router.js';
import { SessionProvider } from './session/session-provider.js';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root.');
createRoot(root).render(
  <StrictMode>
    <I18nProvider locale={navigator.language}>
      <AriaRouterProvider navigate={(to) => void router.navigate({ to })}>
        <QueryClientProvider client={queries}>
          <SessionProvider>
            <RouterProvider router={router} />
          </SessionProvider>
        </QueryClientProvider>
      </AriaRouterProvider>
    </I18nProvider>
  </StrictMode>,
);
