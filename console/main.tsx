import './first-load.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { applyTheme } from './app/preferences.ts';
import { openPortalLink } from './app/session.ts';

applyTheme();
openPortalLink();
createRoot(document.querySelector('#app')!).render(<App />);
