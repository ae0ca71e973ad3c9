import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Check, Keyboard, LogOut, Monitor, Moon, Settings, Sun } from 'lucide-react';
import { useNavigate } from 'react-router';
import { signOut } from '../api/auth.js';
import { showKeyboardHelp } from './keyboard-help.js';
import { notifyFailure } from '../parts/notify.js';
import { AccountCard } from './account-card.js';

const THEMES = [
  { value: 'auto', label: 'As the system', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
] as const satisfies readonly { value: MantineColorScheme; label: string; icon: unknown }[];

/** The signed-in member, the theme, and the sign-out. */
export default function AccountMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  // The sign-in page is loaded as a new document, so that no data of the account stays in memory. If the sign-out has
  // failed, the page stays: the sign-in page would look as if the session had ended.
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => location.assign('/sign-in'),
    onError: (error) => notifyFailure('The sign-out failed', error),
  });
  return (
    <Menu position="top-start" width={220} defaultOpened>
      <Menu.Target>
        <AccountCard />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        {THEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} aria-hidden />}
            rightSection={colorScheme === value && <Check size={15} aria-label="chosen" />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<Settings size={15} aria-hidden />}
          onClick={() => void navigate('/settings')}
        >
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<Keyboard size={15} aria-hidden />} onClick={showKeyboardHelp}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={15} aria-hidden />} onClick={() => leave.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
