// The parts of React Aria that views share. The bundler makes one file of them, which is loaded after the first view
// (index.ts), or with a view that needs one of them.
// The texts of React Aria are in the language of the console and not in the browser's.
Object.assign(globalThis, { [Symbol.for('react-aria.i18n.locale')]: 'en-GB' });

export { AriaDialog } from './aria-dialog.tsx';
export { AriaMenu } from './aria-menu.tsx';
export { AriaTabs } from './aria-tabs.tsx';
export { AriaToasts, toastQueue } from './aria-toasts.tsx';
export { AriaTooltip } from './aria-tooltip.tsx';
