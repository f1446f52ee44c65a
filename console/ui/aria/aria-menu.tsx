import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components/Menu';

export type MenuEntry = {
  key: string;
  label: ReactNode;
  /** Opens an address. */
  href?: string;
  act?: () => unknown;
  /** Of entries of which one is chosen: whether it is this one. */
  isChosen?: boolean;
  isDanger?: boolean;
};
export type MenuGroup = { title?: string; entries: readonly MenuEntry[] };

/** See ui/menu/menu-button.tsx. */
export type MenuProps = {
  /** Names the button; absent: its text does. */
  label?: string | undefined;
  className?: string;
  children: ReactNode;
  groups: readonly MenuGroup[];
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  /** Of the button, from the start. */
  hasFocus: boolean;
};

export function AriaMenu({ label, className = '', children, groups, isOpen, onOpenChange, hasFocus }: MenuProps) {
  const chosen = groups.flatMap(({ entries }) => entries.filter(({ isChosen }) => isChosen).map(({ key }) => key));
  const isChoice = groups.some(({ entries }) => entries.some((entry) => entry.isChosen !== undefined));
  const item = ({ key, label: text, href, act, isDanger }: MenuEntry) => (
    <MenuItem
      key={key}
      id={key}
      textValue={typeof text === 'string' ? text : key}
      className={isDanger ? 'menu-item danger' : 'menu-item'}
      {...(href !== undefined && { href })}
      onAction={() => void act?.()}
    >
      {isChoice && <span className="menu-mark">{chosen.includes(key) && <Check />}</span>}
      {text}
    </MenuItem>
  );
  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={onOpenChange}>
      <Button className={className} autoFocus={hasFocus} {...(label !== undefined && { 'aria-label': label })}>
        {children}
      </Button>
      <Popover className="popover" offset={4}>
        <Menu className="menu" {...(label !== undefined && { 'aria-label': label })}>
          {groups.map(({ title, entries }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place
            <MenuSection key={index} {...(title === undefined && { 'aria-label': `Part ${index + 1}` })}>
              {title !== undefined && <Header className="menu-title">{title}</Header>}
              {entries.map(item)}
            </MenuSection>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
