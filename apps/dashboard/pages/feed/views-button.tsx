import { Button } from '@mantine/core';
import { Bookmark } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';

const SavedViews = lazy(() => import('./saved-views.js'));

/** Opens the saved views. The code of the saved views is loaded on the first use. */
export function ViewsButton({ address }: { address: string }) {
  const [isWanted, setWanted] = useState(false);
  const button = (
    <Button
      variant="default"
      leftSection={<Bookmark size={16} aria-hidden />}
      aria-haspopup="menu"
      onClick={() => setWanted(true)}
    >
      Views
    </Button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <SavedViews address={address} />
    </Suspense>
  );
}
