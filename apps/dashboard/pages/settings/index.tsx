import { Tabs } from '@mantine/core';
import { Navigate, useNavigate, useParams } from 'react-router';
import { useIsOwner } from '../../api/session.js';
import { Page } from '../../parts/page.js';
import { AccountSettings } from './account-settings.js';
import { ApiKeys } from './api-keys.js';
import { AuditLog } from './audit-log.js';
import { Members } from './members.js';
import { Security } from './security.js';
import { SigningSecret } from './signing-secret.js';

interface Part {
  label: string;
  content: React.ComponentType;
  /** Only owners may read this part. */
  ownersOnly?: boolean;
}

const PARTS: Readonly<Record<string, Part>> = {
  account: { label: 'Account', content: AccountSettings },
  members: { label: 'Members', content: Members },
  keys: { label: 'API keys', content: ApiKeys },
  webhooks: { label: 'Signing secret', content: SigningSecret, ownersOnly: true },
  security: { label: 'Password and sessions', content: Security },
  'audit-log': { label: 'Audit log', content: AuditLog, ownersOnly: true },
};

/** Settings of the account and of the member. */
export function Component() {
  const { section = 'account' } = useParams();
  const navigate = useNavigate();
  const isOwner = useIsOwner();
  const shown = Object.entries(PARTS).filter(([, { ownersOnly }]) => isOwner || !ownersOnly);
  const part = shown.find(([name]) => name === section)?.[1];
  if (!part) return <Navigate to="/settings" replace />;
  const Content = part.content;
  return (
    <Page title="Settings">
      <Tabs value={section} onChange={(name) => void navigate(`/settings/${name}`)} keepMounted={false}>
        <Tabs.List mb="lg" style={{ flexWrap: 'wrap' }}>
          {shown.map(([name, { label }]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={section}>
          <Content />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
