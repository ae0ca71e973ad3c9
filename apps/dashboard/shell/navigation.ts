import {
  BellRing,
  Bot,
  CreditCard,
  FileBarChart,
  Inbox,
  Plug,
  Search,
  Send,
  Settings,
  ShoppingBag,
  Tags,
  type LucideIcon,
} from 'lucide-react';

/** A link to a page. */
export interface NavigationEntry {
  to: string;
  label: string;
  icon: LucideIcon;
  /** The key that opens the page after `g`. */
  key: string;
}

/** A group of links with a heading. */
export interface NavigationGroup {
  label: string;
  entries: readonly NavigationEntry[];
}

/** The navigation, in order. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    label: 'Listen',
    entries: [
      { to: '/feed', label: 'Feed', icon: Inbox, key: 'f' },
      { to: '/keywords', label: 'Keywords', icon: Tags, key: 'k' },
      { to: '/explore', label: 'Explore', icon: Search, key: 'e' },
      { to: '/answers', label: 'AI answers', icon: Bot, key: 'a' },
      { to: '/vinted', label: 'Vinted', icon: ShoppingBag, key: 'v' },
    ],
  },
  {
    label: 'Send',
    entries: [
      { to: '/channels', label: 'Channels', icon: BellRing, key: 'c' },
      { to: '/digests', label: 'Digests and reports', icon: FileBarChart, key: 'r' },
      { to: '/deliveries', label: 'Deliveries', icon: Send, key: 'd' },
    ],
  },
  {
    label: 'Account',
    entries: [
      { to: '/credits', label: 'Credits', icon: CreditCard, key: 'b' },
      { to: '/sources', label: 'Sources', icon: Plug, key: 'o' },
      { to: '/settings', label: 'Settings', icon: Settings, key: 's' },
    ],
  },
];
