import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useState } from 'react';
import { queryClient } from '../api/query-client.ts';
import { openRouter } from './routes.tsx';
import { openPortalLink } from './session.ts';

/** The whole console. */
export function App() {
  const [router] = useState(openStartedRouter);
  return (
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>
  );
}

function openStartedRouter() {
  const router = openRouter();
  // A portal link that is opened in a tab with the console changes the fragment only.
  addEventListener('hashchange', () => openPortalLink() && router.history.replace('/'));
  return router;
}
