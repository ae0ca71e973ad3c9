import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The colour of Earshot. Index 6 is the colour of filled elements in both themes. */
const earshot: MantineColorsTuple = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#818cf8',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
];

/** A bluish grey, which replaces Mantine's neutral grey. */
const gray: MantineColorsTuple = [
  '#f8fafc',
  '#f1f5f9',
  '#e2e8f0',
  '#cbd5e1',
  '#bcc6d3',
  '#64748b',
  '#526074',
  '#3e4c5f',
  '#1e293b',
  '#0f172a',
];

const dark: MantineColorsTuple = [
  '#e2e8f0',
  '#c3cddb',
  '#a3b0c2',
  '#8492a6',
  '#47546a',
  '#303c50',
  '#232e40',
  '#161f2e',
  '#0f1724',
  '#0a101a',
];

const FONT =
  'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif';

/** The theme of Mantine's components. */
export const theme = createTheme({
  primaryColor: 'earshot',
  primaryShade: { light: 6, dark: 6 },
  colors: { earshot, gray, dark },
  fontFamily: FONT,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: {
    fontFamily: FONT,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '2rem' },
      h2: { fontSize: '1.125rem', lineHeight: '1.6rem' },
      h3: { fontSize: '1rem', lineHeight: '1.5rem' },
    },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Anchor: { defaultProps: { inherit: true } },
    Button: { defaultProps: { size: 'sm' } },
    Paper: { defaultProps: { withBorder: true, radius: 'md' } },
    Tooltip: {
      defaultProps: { openDelay: 250, withArrow: true, events: { hover: true, focus: true, touch: true } },
    },
    Modal: {
      defaultProps: { centered: true, radius: 'md', closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 650, fontSize: '1.05rem' } },
    },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Table: { defaultProps: { verticalSpacing: 'sm', horizontalSpacing: 'md' } },
    Badge: { defaultProps: { radius: 'sm', tt: 'none', fw: 550, variant: 'light' } },
  },
});
