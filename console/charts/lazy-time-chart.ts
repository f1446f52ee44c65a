import { lazyFrom, loadOnce } from '../router/lazy.tsx';

const loadChart = loadOnce(() => import('./time-chart.tsx'));
// uPlot is larger than the rest of a view: it is loaded beside the view's code, and the view shows without it.
// A failure is shown in the place of the chart.
loadChart().catch(() => {});

export const TimeChart = lazyFrom(loadChart, ({ default: Chart }) => Chart);
