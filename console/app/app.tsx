import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { Layout } from './layout.tsx';
import { queryClient } from './query-client.ts';

/** The whole console. */
export function App() {
  return (
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Layout />
      </QueryClientProvider>
    </StrictMode>
  );
}
