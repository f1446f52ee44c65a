import { Share2 } from 'lucide-react';
import { useState } from 'react';
import { lazyFrom, loadOnce } from '../../../router/lazy.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

const load = loadOnce(() => import('./share-links.tsx'));
const ShareLinks = lazyFrom(load, (loaded) => loaded.ShareLinks);

/** Opens the dialog with the links to the transcript of a completed job. */
export function ShareButton({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  return (
    <>
      {/* Opened once its content is there, so that the first field gets the focus; the dialog shows a failure. */}
      <Button look="quiet" aria-haspopup="dialog" onClick={() => void load().then(open, open)}>
        <Share2 aria-hidden /> Share
      </Button>
      <Dialog isOpen={isOpen} title="Share the transcript" onClose={() => setOpen(false)}>
        <ShareLinks id={id} />
      </Dialog>
    </>
  );
}
