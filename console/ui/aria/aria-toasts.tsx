import { X } from 'lucide-react';
import {
  Button,
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components/Toast';

const MAX_TOASTS = 3;
/** The messages that are shown. */
export const toastQueue = new ToastQueue<{ text: string }>({ maxVisibleToasts: MAX_TOASTS });

/** See ui/toast.tsx. */
export function AriaToasts() {
  return (
    <ToastRegion queue={toastQueue} className="toasts" aria-label="Messages">
      {({ toast }) => (
        <Toast toast={toast} className="toast">
          <ToastContent>
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <Button slot="close" className="toast-close" aria-label="Close">
            <X />
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
