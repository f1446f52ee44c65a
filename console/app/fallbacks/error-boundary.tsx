import { Component, type ReactNode } from 'react';
import { Problem } from '../../ui/state.tsx';

/** Shows what a view throws while it renders or loads: after an upgrade its code may be another file. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error === null ? this.props.children : <Problem error={error} retry={() => location.reload()} />;
  }
}
