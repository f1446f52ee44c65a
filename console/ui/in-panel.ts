import { createContext } from 'react';

/** What a view in the side panel has in place of the address. */
export type PanelPlace = {
  params: Readonly<Record<string, string>>;
  filters: Record<string, string>;
  change: (changed: Record<string, string>) => void;
};

/** Null: the view is the page. */
export const InPanel = createContext<PanelPlace | null>(null);
