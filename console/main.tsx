import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { applyTheme } from './app/preferences.ts';
import { openRouter } from './app/routes.tsx';
import { openPortalLink } from './app/session.ts';

applyTheme();
openPortalLink();
const router = openRouter();
// A portal link that is opened in a tab with the console changes the fragment only. Listened to before the first rendering.
addEventListener('hashchange', () => openPortalLink() && router.history.replace('/'));
createRoot(document.querySelector('#app')!).render(<App router={router} />);
