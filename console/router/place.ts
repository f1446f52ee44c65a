import { createContext } from 'react';

/** What a view is shown for: the address, or in the side panel that of the row. */
export type Place = {
  path: string;
  /** Of the path, such as the id of a job. */
  params: Readonly<Record<string, string>>;
  filters: Readonly<Record<string, string>>;
  /** Changes some filters; an empty value removes one. */
  change: (changed: Record<string, string>) => void;
  isPanel: boolean;
};

export const PlaceContext = createContext<Place>({
  path: '/',
  params: {},
  filters: {},
  change: () => {},
  isPanel: false,
});
