import { Download } from 'lucide-react';
import { saveFile } from '../../text/save-file.ts';
import { MenuButton } from '../../ui/menu/menu-button.tsx';
import { say } from '../../ui/toast.tsx';

const FORMATS = [
  ['text', 'txt', 'Text, .txt'],
  ['md', 'md', 'Markdown, .md'],
  ['docx', 'docx', 'Word, .docx'],
  ['pdf', 'pdf', 'PDF'],
  ['srt', 'srt', 'Captions, SubRip, .srt'],
  ['vtt', 'vtt', 'Captions, WebVTT, .vtt'],
] as const;

/** Saves a shared transcript as a file. @param path  where the API has it */
export function ShareDownloads({ path, name }: { path: string; name: string }) {
  const download = async (format: string, extension: string) => {
    try {
      const answer = await fetch(`${path}?format=${format}`, { credentials: 'omit' });
      if (answer.ok) saveFile(`${name}.${extension}`, await answer.blob());
      else say(((await answer.json()) as { error: { message: string } }).error.message);
    } catch {
      say('Cannot reach the service. Try again.');
    }
  };
  return (
    <MenuButton
      groups={[
        {
          title: 'Transcript',
          entries: FORMATS.map(([format, extension, label]) => ({
            key: format,
            label,
            act: () => download(format, extension),
          })),
        },
      ]}
    >
      <Download aria-hidden /> Download
    </MenuButton>
  );
}
